"""Commands where something is missing: a stream, memory, files, docstrings; each ends in one sentence, or works."""

import os
import subprocess
import sys

import pytest

import make
from trainyard.faces.cli import guarded

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell closes streams")

SHUT = ["<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"]


def shell(line, **env):
    """Run trainyard with a rest of a shell's command, and return what comes of it."""
    command = f'exec "{sys.executable}" -m trainyard {line}'
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, env={**os.environ, **env})


@pytest.mark.parametrize("shut", SHUT)
def test_closed_streams_change_no_exit_code(shut):
    """A command whose streams are closed does its work, and no file of ours takes their place."""
    done = shell(f"rule spec/gpus-per-node {shut}")
    assert done.returncode == 0
    assert not done.stderr


@pytest.mark.parametrize("command", ["validate -", "validate - --format json"])
def test_a_closed_input_is_told(command):
    """Whoever reads standard input says that it is closed."""
    done = shell(f"{command} <&-")
    assert done.returncode == 2
    assert done.stderr == "trainyard: standard input is closed; pipe a file into this command, or name one\n"


def test_an_endless_input_is_refused():
    """No more of standard input is read than of a file."""
    done = shell("validate - < /dev/zero")
    assert done.returncode == 1
    assert "file has more than 64 MiB; split it" in done.stdout


LACKS = {
    "memory": (MemoryError(), "not enough memory"),
    "files": (OSError(24, "Too many open files"), "too few open files are allowed"),
    "threads": (RuntimeError("can't start new thread"), "no process or thread can be started"),
    "a library": (ImportError("x.so: failed to map segment from shared object"), "not enough memory"),
    "our own fault": (KeyError("x\ny"), "this is a bug in Trainyard: KeyError"),
}


@pytest.mark.parametrize("case", LACKS)
def test_whatever_stops_a_command_is_one_sentence(case, capsys, monkeypatch):
    """A command that could not finish says so in a line and ends with 2, whatever stopped it."""
    monkeypatch.delenv("TRAINYARD_TRACEBACK", raising=False)
    error, message = LACKS[case]

    def stop():
        raise error

    assert guarded(stop) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"trainyard: {message}")
    assert said.count("\n") == 1


def test_policies_have_their_docstrings_without_docstrings(tmp_path):
    """Python's -OO takes docstrings from modules, and no policy's."""
    root = make.write_repository(tmp_path)
    (root / "policies").mkdir(exist_ok=True)
    text = '"""Nothing is wrong.\n\nWhy: a.\nFix: b.\nSource: c.\n"""\n\n\ndef check(world):\n    return []\n'
    (root / "policies/none_wrong.py").write_text(text, encoding="utf-8")
    done = shell(f"validate --root {root}", PYTHONOPTIMIZE="2")
    assert "has no 'Why:'" not in done.stdout + done.stderr


def test_a_home_that_is_a_file_keeps_no_node_from_starting(tmp_path):
    """Where HOME is no folder Node keeps nothing there, and cdk8s starts."""
    (tmp_path / "home").touch()
    done = subprocess.run(
        [sys.executable, "-c", "import trainyard.change.constructs"],
        env={**os.environ, "HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

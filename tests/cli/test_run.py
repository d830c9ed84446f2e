"""`run` takes a job or manifests, says what it has changed, ends as the run does, and leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import yaml

from conftest import ROOT
from trainyard.faces.cli import main


def call(capsys, *arguments):
    """Run `run` here; exit code, standard output and standard error."""
    with pytest.raises(SystemExit) as stopped:
        main(["run", *arguments])
    return stopped.value.code, *capsys.readouterr()


def manifest(folder: Path, *command: str, **more: object) -> Path:
    """Write a Job of one pod."""
    container = {"name": "main", "image": "none", "command": list(command)}
    spec = {"backoffLimit": 0, "template": {"spec": {"restartPolicy": "Never", "containers": [container], **more}}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "it"}, "spec": spec}
    (path := folder / "job.yaml").write_text(yaml.safe_dump(job))
    return path


def test_a_job_is_shown_smaller(capsys):
    """What is shown is the job's own command line for so many nodes and processes, and what has changed is said."""
    code, out, told = call(capsys, "nlp/llama3-8b", "--nodes", "2", "--processes", "3", "--show", "--root", str(ROOT))
    assert code == 0
    assert "nodes: 2 instead of 8" in told
    assert "processes per node: 3 instead of 8" in told
    assert "ranks: 6 instead of 64" in told
    assert out.count("worker-") >= 2
    assert "worker-2" not in out
    assert "--nnodes=2" in out
    assert "--nproc-per-node=3" in out


def test_a_job_is_shown_as_it_is(capsys):
    """Without numbers nothing is changed and nothing is said."""
    code, out, told = call(capsys, "nlp/llama3-8b", "--show", "--root", str(ROOT))
    assert (code, told) == (0, "")
    assert "--nnodes=8" in out
    assert "worker-7" in out


@pytest.mark.parametrize("how", [(), ("--plain",)], ids=["namespaces where possible", "plain"])
def test_the_first_job_of_all_trains_here(how, tmp_path, capsys):
    """The newcomer's example needs nothing but Python: both nodes meet, and end with the same line."""
    shutil.copytree(ROOT / "platform", tmp_path / "platform", ignore=shutil.ignore_patterns("trainyard", "__pycache__"))
    (tmp_path / "jobs/nlp").mkdir(parents=True)
    shutil.copyfile(ROOT / "jobs/nlp/hello.yaml", tmp_path / "jobs/nlp/hello.yaml")
    where = ("--root", str(tmp_path), "--workdir", str(ROOT / "jobs/programs"))
    before = signal.getsignal(signal.SIGTERM)
    code, out, _ = call(capsys, "nlp/hello", *how, *where)
    assert code == 0, out
    assert signal.getsignal(signal.SIGTERM) == before
    ends = [line for line in out.splitlines() if "step 200" in line]
    assert len(ends) == 2
    assert all(line.endswith("line 3.00x + 2.00") for line in ends)


REFUSED = {
    "a job that does not exist": (("nlp/lama3-8b", "--root", str(ROOT)), 2, "did you mean 'nlp/llama3-8b'"),
    "two jobs": (("nlp/llama3-8b", "nlp/moe-400b", "--root", str(ROOT)), 2, "name one job, or files"),
    "a folder without manifests": ((str(ROOT / ".git/hooks"),), 2, "has no manifests"),
    "a file of something else": ((str(ROOT / "platform/repository.yaml"),), 2, "apiVersion is missing"),
    "manifests made smaller": (
        (str(ROOT / "generated"), "--nodes", "1"),
        2,
        "--nodes and --processes work only for jobs of a repository, not for manifests",
    ),
    "a path that is none": (("nlp/llama3-8b", "--path", "/x"), 2, "--path /x has no folder"),
}


@pytest.mark.parametrize(("arguments", "code", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_run_is_said_in_a_sentence(arguments, code, message, capsys):
    """Nothing starts, and the exit code says that it could not."""
    if arguments[0].endswith("hooks"):
        (folder := Path(os.environ["XDG_CACHE_HOME"]) / "empty").mkdir(exist_ok=True)
        arguments = (str(folder),)
    found = call(capsys, *arguments)
    assert found[0] == code
    assert message in found[2]


@pytest.mark.parametrize(("script", "code"), [("echo hello", 0), ("echo hello; exit 3", 1)])
def test_the_exit_code_is_the_runs(script, code, tmp_path, capsys):
    """A run that has ended well ends with 0, one that has failed with 1; lines say who wrote them."""
    found, out, _ = call(capsys, str(manifest(tmp_path, "sh", "-c", script)), "--plain")
    assert found == code
    assert "worker-0  | hello" in out
    assert ("done:" if code == 0 else "failed:") in out


def test_objects_without_pods_are_said(tmp_path, capsys):
    """A file that makes no pods is no run."""
    (path := tmp_path / "a.yaml").write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
    code, _, told = call(capsys, str(path))
    assert code == 1
    assert "no object here creates pods" in told


def test_a_secret_that_nobody_gives_is_said(tmp_path, capsys):
    """The pod runs with it empty."""
    path = manifest(tmp_path, "true", volumes=[{"name": "k", "secret": {"secretName": "keys"}}])
    _, out, _ = call(capsys, str(path), "--plain")
    assert "Secret keys is empty here; set it with --secret keys=FOLDER" in out


@pytest.mark.parametrize("how", [(), ("--plain",)], ids=["namespaces where possible", "plain"])
def test_an_interrupted_run_leaves_nothing(how, tmp_path):
    """SIGINT ends all pods, what they have started too, and the folders that do not stay."""
    mark = f"87{os.getpid()}"
    script = textwrap.dedent(f"""\
        trap 'echo told; exit 143' TERM
        sleep {mark} &
        echo up
        wait
    """)
    path = manifest(tmp_path, "sh", "-c", script)
    (scratch := tmp_path / "scratch").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "trainyard", "run", str(path), *how],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "platform"), "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    seen = ""
    while "| up" not in seen:
        line = process.stdout.readline()
        assert line, process.communicate()
        seen += line
    process.send_signal(signal.SIGINT)
    out, told = process.communicate(timeout=40)
    assert process.returncode == 130
    assert "| told" in out
    assert "Traceback" not in told
    assert list(scratch.iterdir()) == []
    end = time.monotonic() + 5
    while running(mark) and time.monotonic() < end:
        time.sleep(0.05)
    assert not running(mark)


def running(mark: str) -> list[str]:
    """Return the processes whose arguments have a mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words:
            found.append(folder.name)
    return found


WRONG = {
    "a folder that is not there": (("--workdir", "/nosuch"), "--workdir /nosuch is not a folder"),
    "less than no time": (("--grace", "-1"), "--grace -1 is not a valid time"),
    "a time that is no number": (("--grace", "nan"), "--grace nan is not a valid time"),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG)
def test_options_that_cannot_be_are_refused_first(options, message, capsys, tmp_path):
    """Nothing has started when the exit code is 2."""
    code, out, told = call(capsys, str(manifest(tmp_path, "touch", str(tmp_path / "x"))), "--plain", *options)
    assert (code, out) == (2, "")
    assert message in told
    assert not (tmp_path / "x").exists()


def test_an_object_without_metadata_is_no_traceback(capsys, tmp_path):
    """Files of other programs lie among manifests, and an object that runs must have a name."""
    path = manifest(tmp_path, "true")
    path.write_text(f"{path.read_text()}---\napiVersion: v1\nkind: Config\n")
    assert call(capsys, str(path), "--plain", "--show")[0] == 0
    path.write_text("apiVersion: batch/v1\nkind: Job\nspec: {}\n")
    code, _, told = call(capsys, str(path), "--plain", "--show")
    assert code == 2
    assert "a Job has no name" in told


def test_a_terminal_is_not_steered(capsys, tmp_path):
    """Escapes of names, values and lines are shown as such; colours are left out."""
    path = manifest(tmp_path, "printf", r"a\033[31mb\033[2Jc\td\n")
    job = yaml.safe_load(path.read_text())
    job["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A\x1b[2J", "value": "x\n\x1b]0;y\x07"}]
    path.write_text(yaml.safe_dump(job))
    _, out, _ = call(capsys, str(path), "--show")
    assert r"    A\x1b[2J=x\n\x1b]0;y\x07" in out.splitlines()
    job["spec"]["template"]["spec"]["containers"][0]["env"] = []
    path.write_text(yaml.safe_dump(job))
    _, out, _ = call(capsys, str(path), "--plain")
    assert "| ab\\x1b[2Jc" in out

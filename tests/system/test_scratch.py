"""What a killed command leaves is removed by the next one, and nothing else is."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from conftest import ROOT
from trainyard.base.system import files, scratch

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no locks of this kind")

MAKES = "from trainyard.base.system import scratch; (scratch.make('run') / 'x').mkdir(); print(flush=True); input()"


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    """Give each test a folder for temporary ones."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def maker(tmp_path):
    """Start a process that holds a folder, and return it once it does."""
    env = {"PYTHONPATH": str(ROOT / "platform"), "TMPDIR": str(tmp_path)}
    found = subprocess.Popen(
        [sys.executable, "-c", MAKES], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    found.stdout.readline()
    return found


def test_a_killed_command_s_folder_goes_and_a_running_one_s_stays(tmp_path):
    """A sweep leaves the folder of a process that lives, and removes it once that is killed."""
    with maker(tmp_path) as process:
        scratch.sweep()
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(signal.SIGKILL)
        process.wait()
        scratch.sweep()
        assert not list(tmp_path.iterdir())


def test_a_command_removes_its_own(tmp_path):
    """Nothing is left after a command that ends by itself, and its own sweep takes nothing that it needs."""
    with scratch.folder("base") as folder:
        (folder / "x").touch()
        scratch.sweep()
        assert (folder / "x").exists()
    assert not list(tmp_path.iterdir())


PLANTED = {
    "a link to a folder": lambda path, other: path.symlink_to(other),
    "a file": lambda path, other: path.touch(),
    "a folder that others may enter": lambda path, other: path.mkdir(mode=0o755),
}


@pytest.mark.parametrize("case", PLANTED)
def test_what_is_planted_stays(case, tmp_path):
    """Only a folder of this user's that nobody else may enter is removed, and no link is followed."""
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    (other / "kept").touch()
    planted = tmp_path / "trainyard-run-abcdefgh"
    PLANTED[case](planted, other)
    scratch.sweep()
    assert os.path.lexists(planted)
    assert (other / "kept").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root makes what others own")
def test_another_users_folder_stays(tmp_path):
    """A folder of another user is not removed, whoever sweeps."""
    planted = tmp_path / "trainyard-run-abcdefgh"
    planted.mkdir(mode=0o700)
    os.chown(planted, 4711, 4711)
    scratch.sweep()
    assert planted.exists()


@pytest.mark.parametrize(
    "name", ["trainyard-run-abc", "trainyard-tests-abcdefgh", "trainyard-run-abcdefgh.d", "tmpabc"]
)
def test_other_names_stay(name, tmp_path):
    """A folder with another name is nobody's that is known here."""
    (tmp_path / name).mkdir(mode=0o700)
    scratch.sweep()
    assert (tmp_path / name).exists()


def test_a_file_that_is_being_written_stays(tmp_path):
    """A sweep takes no temporary file of a command that runs, and takes it once that has closed it."""
    handle, beside = files.open_beside(tmp_path / "a.yaml")
    assert not files.sweep(beside, top=tmp_path)
    assert beside.exists()
    os.close(handle)
    assert files.sweep(beside, top=tmp_path)
    assert not beside.exists()


def test_a_link_is_no_temporary_file(tmp_path):
    """A link under such a name is not followed."""
    other = tmp_path / "other"
    other.write_text("kept")
    link = tmp_path / f"{files.MARK}1-1{files.ENDING}"
    link.symlink_to(other)
    assert not files.sweep(link, top=tmp_path)
    assert Path(other).read_text() == "kept"


def test_a_folder_that_another_command_takes_at_once_is_made_again(tmp_path, monkeypatch):
    """Between making a folder and holding it, the sweep of a command that ends may remove it."""
    gone, kept = tmp_path / "trainyard-base-gone0000", tmp_path / "trainyard-base-kept0000"
    kept.mkdir(mode=0o700)
    made = iter([gone, kept])
    monkeypatch.setattr(tempfile, "mkdtemp", lambda prefix: str(next(made)))
    with scratch.folder("base") as folder:
        assert folder == kept

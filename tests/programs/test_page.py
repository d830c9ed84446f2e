"""The commands of the page on programs run, as they stand there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from ranks import PROGRAMS, SAID, needs_joblib, needs_torch

PAGE = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
COMMANDS = [
    line for text in re.findall(r"^```bash\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) for line in text.splitlines()
]


def run(line, folder):
    """Run a command where `jobs` is the repository's, with programs of this Python before others."""
    (folder / "jobs").symlink_to(ROOT / "jobs")
    own = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{own}:{os.environ['PATH']}", "CUDA_VISIBLE_DEVICES": "", "CHECKPOINT_DIR": ""}
    done = subprocess.run(shlex.split(line), cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_torch
@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("torchrun ")])
def test_torchrun_trains_as_the_page_says(line, tmp_path):
    """Real torchrun starts the ranks, which train to the end."""
    steps = int(line.split("--steps ")[1].split()[0])
    assert int(SAID.findall(run(line, tmp_path))[-1][0]) == steps


@needs_joblib
@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("python ")])
def test_the_recommender_runs_as_the_page_says(line, tmp_path):
    """The artifact is where the command says."""
    run(line, tmp_path)
    assert (tmp_path / "artifacts" / "recommender.joblib").exists()


def test_every_program_is_on_the_page():
    """Whatever can be started is in the table, with its place in the image."""
    programs = [path.name for path in PROGRAMS.glob("*.py") if "__main__" in path.read_text()]
    assert [name for name in programs if f"| `/workspace/{name}` |" not in PAGE] == []
    assert len(COMMANDS) == 3

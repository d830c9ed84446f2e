"""Rendered jobs really train: ranks meet, save, are killed, resume, and end with the loss of an undisturbed run."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from forked import torch_python
from make import make_cluster, make_resolved
from ranks import needs_torch
from trainyard.faces.local import work_of
from trainyard.faces.local.session import Session
from trainyard.faces.local.spaces import linux
from trainyard.render.kinds import build

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.timeout(600), needs_torch]

STEPS, KILLED, SAVED = 12, 6, 2
PROGRAM = (
    "--layers 1 --width 16 --heads 2 --vocabulary 64 --length 16 --batch 4 --rate 0.01 --lease-seconds 0.6 "
    f"--log-every 1 --pace 0.1 --steps {STEPS} --save-every {SAVED}"
)
OPERATORS: dict[str, Any] = {
    "kueue": {"version": "0.19.2"},
    "jobset": {"version": "0.12.0"},
    "training-operator": {"version": "1.9.4"},
}
LOSS = re.compile(r"^step=(\d+) loss=(\S+)")


def run(kind: str, folder: Path, *kill: str, **job: Any) -> tuple[bool, list[str], dict[int, list[str]]]:
    """Train in a kind on two nodes, and return whether it went well, what was said, and each step's losses."""
    resolved = make_resolved(
        kind=kind,
        launcher="torchrun",
        cluster=make_cluster(operators=OPERATORS),
        program="/programs/fsdp.py",
        args=PROGRAM.split(),
        nodes=2,
        gpus_per_node=0,
        pool="cpu",
        cpus_per_node=2,
        checkpoint={"volume": "checkpoints", "everyMinutes": 20, "size": "1Gi"},
        **job,
    )
    (work,) = work_of([item.value() for item in build(resolved)])
    lines: list[str] = []
    session = Session(
        work,
        lambda _, text: lines.append(text),
        state=folder,
        paths={"/programs": ROOT / "jobs" / "programs"},
        kill=kill,
        grace=20,
    )
    well = session.run()
    losses: dict[int, list[str]] = {}
    for line in lines:
        if match := LOSS.match(line):
            losses.setdefault(int(match[1]), []).append(match[2])
    return well, lines, losses


@pytest.fixture(scope="module", autouse=True)
def programs() -> Any:
    """The programs of the Python that runs the tests come first, as an image's would."""
    if why := linux.possible():
        pytest.skip(f"rendered jobs as namespaces of Linux: {why}")
    patch = pytest.MonkeyPatch()
    patch.setenv("PATH", os.pathsep.join(map(str, (torch_python(), Path(sys.executable).parent, os.environ["PATH"]))))
    yield
    patch.undo()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """The losses of a run that nothing disturbs."""
    well, lines, losses = run("JobSet", tmp_path_factory.mktemp("undisturbed"))
    assert well, lines
    assert sorted(losses) == list(range(1, STEPS + 1)), lines
    return {step: loss for step, (loss,) in losses.items()}


KINDS: dict[str, dict[str, Any]] = {
    "JobSet": {},
    "PyTorchJob": {},
}


@pytest.mark.parametrize(("kind", "job"), KINDS.items(), ids=KINDS)
def test_a_killed_rank_learns_what_an_undisturbed_one_does(kind, job, undisturbed, tmp_path):
    """The policies that are rendered bring it back, it resumes from its checkpoint, and every loss is the same."""
    well, lines, losses = run(kind, tmp_path, f"1@{KILLED}", **job)
    assert well, "\n".join(lines)
    assert any(line.startswith("killed worker-") for line in lines), lines
    assert any(line.startswith("resumed step=") for line in lines), lines
    assert sorted(losses) == list(range(1, STEPS + 1))
    assert {step: set(found) for step, found in losses.items()} == {step: {undisturbed[step]} for step in losses}

"""Every launcher that starts torch, in every kind that carries it: the rendered pods train here, are killed, and go on.

The program is started by the manifest's own command line, with the variables that its controller adds; nothing of the
gang is said by the test.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from everything import everything
from forked import torch_python
from make import make_run
from ranks import PROGRAMS, SAID, needs_torch
from trainyard.faces.local import work_of
from trainyard.faces.local.session import Session
from trainyard.render.kinds import build, kinds, resolve
from trainyard.render.kinds.pairs import Pair
from trainyard.render.launchers import launchers

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.timeout(150), needs_torch]

STEPS = 9

OPTIONS = ("--depth", 10, "--width", 8, "--size", 16, "--images", 50, "--batch", 10, "--rate", 0.03)
COMMON = (*OPTIONS, "--steps", STEPS, "--log-every", 1, "--lease-seconds", 1.2)

STARTS = {
    "torchrun": {"processes_per_node": 1},
    "python": {},
    "accelerate": {"processes_per_node": 1},
    "deepspeed": {"processes_per_node": 1},
    "mpirun": {"processes_per_node": 1},
}
"""Launchers that start ranks of torch, and what a job of theirs says besides."""

STAYS = {"LeaderWorkerSet"}
"""Kinds whose pods stay when training is complete."""

NEEDS = {"accelerate": "accelerate"}
"""What has to be installed beside torch."""


def job(launcher, kind, *, elastic=False, args=()):
    """A job of two pods with one rank each, which saves every third step."""
    words = [str(word) for word in (*COMMON, *args)]
    shrinks = {"min_nodes": 1} if elastic else {}
    return make_run(
        "train",
        cluster=everything(),
        kind=kind,
        launcher=launcher,
        program="ddp.py",
        args=words,
        pool="cpu",
        gpus_per_node=0,
        nodes=2,
        restarts=4,
        checkpoint={"volume": "checkpoints", "size": "1Gi"},
        **STARTS[launcher],
        **shrinks,
    )


def able(launcher, kind, *, elastic=False):
    """Whether a kind carries a job of the launcher, elastic ones too."""
    pair = Pair(launchers()[launcher], kinds()[kind])
    return pair.word in ({"elastic"} if elastic else {"yes", "elastic"})


SAME_AGENT = {"accelerate", "deepspeed"}
"""Launchers of torchrun's agents: what a kind gives them is what it gives torchrun, so that a few kinds show it."""

A_FEW = ("Job", "JobSet", "PyTorchJob")

PAIRS = [
    (name, kind, False)
    for name in STARTS
    for kind in kinds()
    if able(name, kind) and (name not in SAME_AGENT or kind in A_FEW)
]
PAIRS += [("torchrun", kind, True) for kind in kinds() if able("torchrun", kind, elastic=True)]


def run(objects, folder, *kill, stays):
    """Run rendered objects here, and return whether it went well and what was said; one that stays is told to end."""
    (work,) = work_of(objects)
    said = []

    def hear(_, text):
        said.append(text)
        if stays and text.startswith(f"saved step={STEPS} "):
            raise KeyboardInterrupt

    session = Session(work, hear, state=folder / "state", workdir=PROGRAMS, kill=kill, grace=20)
    try:
        well = session.run()
    except KeyboardInterrupt:
        well = stays
    return well, "\n".join(said)


def losses(text):
    """The loss of each step; the last word on a step counts."""
    return {int(step): float(loss) for step, loss in SAID.findall(text)}


@pytest.fixture(autouse=True)
def own_programs(monkeypatch):
    """What a command names is found beside this Python first, as in an image; GPUs of this machine are left alone."""
    found = (torch_python(), Path(sys.executable).parent, os.environ["PATH"])
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, found)))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The losses of two ranks that nothing disturbs."""
    from ranks import Launcher

    @cache
    def found():
        folder = tmp_path_factory.mktemp("undisturbed")
        gang = Launcher(folder / "checkpoints", folder / "errors")("ddp.py", COMMON)
        assert gang.ended() == [0, 0], gang.errors()
        return {step: float(loss) for step, loss in gang.losses().items()}

    return found


@pytest.mark.parametrize(("launcher", "kind", "elastic"), PAIRS)
def test_a_rendered_gang_trains_is_killed_and_goes_on(launcher, kind, elastic, tmp_path, undisturbed):
    """The second pod is killed at the fifth step: all steps are trained, from a checkpoint on, to the same loss."""
    if (package := NEEDS.get(launcher)) and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install {package}")
    resolved = resolve(job(launcher, kind, elastic=elastic, args=("--save-every", 3, "--pace", 0.1)))
    well, text = run([item.value() for item in build(resolved)], tmp_path, "1@5", stays=kind in STAYS)
    assert well, text
    assert "killed " in text
    (resumed,) = re.findall(r"^resumed step=(\d+)", text, re.MULTILINE)
    assert int(resumed) >= 3
    found = losses(text)
    assert found == pytest.approx(undisturbed(), rel=2e-3 if elastic else 1e-6)

"""There is a template of every pair, and what it renders to is executed: all ranks are there, once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT
from forked import torch_python
from interpreters import interpreter
from trainyard.render.kinds import available, kinds
from trainyard.render.kinds.pairs import Pair
from trainyard.render.launchers import launchers
from trainyard.specs import Job
from trainyard.specs.load import read_repository

TEAM = "templates"

MODULES = {
    "accelerate": ("torch", "accelerate"),
    "jax": ("jax",),
    "paddle": ("paddle",),
    "ray": ("ray", "joblib"),
    "tensorflow": ("tensorflow",),
    "xgboost": ("xgboost",),
}
"""What a launcher's programs import; torch where nothing is said."""

EVERY = bool(os.environ.get("TRAINYARD_EVERY_TEMPLATE"))
"""Whether all templates are executed, and not one a kind and one a launcher."""

ENDLESS = {"LeaderWorkerSet"}
"""Kinds that wait when their program has ended; Ctrl-C ends them here."""

STOPPED = 130
"""Exit code after Ctrl-C."""

MET = re.compile(r"rank (\d+) of 2: the sum is 3, wanted is 3")

APART = {"horovod", "mpirun", "ray"}
"""Launchers that need more than Python: an image with sshd, a Ray of their own. Tests of theirs execute them."""


@cache
def templates() -> dict[tuple[str, str], tuple[str, Job]]:
    """Return the jobs of the team, by launcher and kind."""
    found = {}
    for file in read_repository(ROOT).specs.jobs:
        if file.team == TEAM:
            found[file.job.launcher, file.job.kind or ""] = (file.name, file.job)
    return found


def test_every_pair_of_the_cluster_has_a_template():
    """What `explain kinds` calls a pair is there, and nothing else; kinds of other clusters have jobs of their own."""
    cluster = read_repository(ROOT).specs.clusters["kind"]
    pairs = {
        (launcher.name, kind.name)
        for launcher in launchers().values()
        for kind in available(cluster)
        if Pair(launcher, kind).word in {"yes", "elastic"}
    }
    assert set(templates()) == pairs


def test_every_kind_and_every_launcher_has_a_job():
    """No kind and no launcher is only talked of: some job of the repository has it."""
    jobs = [file.job for file in read_repository(ROOT).specs.jobs]
    assert {job.launcher for job in jobs} == set(launchers())
    generated = {path.name for path in (ROOT / "generated").glob("*/runs/*/*/*.yaml")}
    for kind in kinds().values():
        assert any(name.startswith(f"{kind.object_kind.lower()}.") for name in generated)


def chosen() -> list[tuple[str, str]]:
    """Return the pairs to execute: all, or every kind by torchrun and every launcher in a JobSet."""
    found = sorted(pair for pair in templates() if pair[0] not in APART)
    return [pair for pair in found if EVERY or "JobSet" in pair or "torchrun" in pair]


def said(launcher: str, kind: str, state: Path) -> tuple[str, int]:
    """Run a template until it has ended, or where nothing ends it, until its ranks have met; return what it said."""
    python = Path(interpreter(*MODULES.get(launcher, ("torch",))))
    found = [python.parent, os.environ["PATH"]]
    if launcher not in MODULES and python == Path(sys.executable):
        found.insert(0, torch_python())
    env = {**os.environ, "PATH": os.pathsep.join(map(str, found)), "JAX_PLATFORMS": "cpu"}
    name, _ = templates()[launcher, kind]
    asked = [sys.executable, "-m", "trainyard", "run", f"{TEAM}/{name}", "--state", str(state)]
    run = subprocess.Popen(asked, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = ""
    assert run.stdout is not None
    for line in run.stdout:
        text += line
        if kind in ENDLESS and len(MET.findall(text)) == 2:
            run.send_signal(signal.SIGINT)
    return text, run.wait(timeout=60)


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize(("launcher", "kind"), chosen())
def test_the_ranks_of_a_template_meet(launcher, kind, tmp_path):
    """Its pods run here as in the cluster, and every rank counts all others."""
    text, code = said(launcher, kind, tmp_path)
    assert sorted(set(MET.findall(text))) == ["0", "1"], text
    assert code == (STOPPED if kind in ENDLESS else 0), text

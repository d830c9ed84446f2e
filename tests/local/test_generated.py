"""Every run of this repository has pods whose containers can start and find each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import ROOT
from trainyard.faces.local import scaled, work_of
from trainyard.faces.local.controllers import controller_of

RUNS = sorted({path.parent for path in ROOT.glob("generated/*/runs/*/*/*.yaml")})
HOST = re.compile(r"(?<![\w.-])([a-z][\w-]*\.[\w.-]*\w|[a-z][\w-]*-(?:master|worker)-0)(?![\w.-])")

NAMED = {"MASTER_ADDR", "TF_CONFIG", "COORDINATOR_ADDRESS"}
"""Variables that name a pod wherever there are several."""


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_rendered_pods_find_each_other(run):
    """Names of the run's own pods in command lines and variables are names that resolve."""
    cluster = ROOT / "generated" / run.parts[-4]
    runtimes = [*(cluster / "platform").glob("*runtime*.yaml"), *(cluster / "operators").glob("*/*runtime*.yaml")]
    objects = scaled.files_in([Path(run), *runtimes])
    own = [value for value in objects if controller_of(value) is not None]
    assert own, "nothing in it makes pods"
    works = work_of(objects)
    assert len(works) == len(own)
    for work in works:
        name = work.value["metadata"]["name"]
        names, seen = set(work.names), set()
        assert work.pods
        for pod in work.pods:
            for container in pod.containers:
                assert container.command, f"{container.name} has no command"
                for text in (*container.command, *container.env.values()):
                    seen |= {host for host in HOST.findall(text) if host.startswith(f"{name}-")}
        assert seen <= names, f"{seen - names} does not resolve"
        alone = len(work.pods) == 1 or work.value["spec"].get("completions") != work.value["spec"].get("parallelism")
        assert seen or alone or not NAMED & {word for pod in work.pods for word in pod.main.env}

"""A company's own launcher and kind come from a package that is installed beside Trainyard."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PAIR = "launcher 'torchrun' cannot run in kind 'OwnJob', which does not provide 'master'; kinds that can: Job, JobSet"
OWN = """
from trainyard.upstream.workloads import Carrier, Template
from trainyard.render.kinds.job import Job
from trainyard.launchers import Launch, Launcher, Role


class Bash(Launcher):
    name = "bash"
    needs = frozenset({"shell"})

    def launch(self, run, sizing, wiring):
        return Launch((Role(sizing.worker, ("bash", run.job.program)),))


class Needy(Bash):
    def __init__(self, word):
        self.name, self.needs = f"needs-{word}", frozenset({word})

    def launch(self, run, sizing, wiring):
        return Launch(tuple(Role(size, (self.name, size.name)) for size in sizing.roles))


class OwnJob(Job):
    name = "OwnJob"
    container = "own"
    gives = frozenset({"shell"})
    objects = frozenset({"batch/OwnJob", "/Service"})


LAUNCHER, KIND = Bash(), OwnJob()
RANK, HOSTS, SSH, SHELL = map(Needy, ("rank", "hosts", "ssh", "shell"))
CARRIER = Carrier("batch", "OwnJob", (Template(("spec",)),), suspend=("spec", "suspend"), trains=True)
"""
SHOW = """
import sys

from make import make_job_file, make_specs
from trainyard.kinds import build
from trainyard.judge.preflight import jobs


def check(**job):
    specs = make_specs(make_job_file(kind="OwnJob", **job))
    return jobs.check(specs, specs.jobs[0])


_, [finding] = check(launcher="torchrun")
run, findings = check(launcher="bash")
print(finding.message)
print(findings, [each.kind for each in build(run)], "cdk8s" in sys.modules)
container = next(build(run)).fields["spec"]["template"]["spec"]["containers"][0]
print(container["name"], container["command"])
"""
EVERYWHERE = """
import json

from make import CLUSTER, make_cluster, make_job_file, make_specs
from trainyard.upstream.workloads import pod_sets_of
from trainyard.kinds import build, kinds
from trainyard.judge.preflight import jobs
from trainyard.specs.releases import release

NAMES = {kind.carrier.operator for kind in kinds().values()} - {None, *CLUSTER["operators"]}
APART = {"training-operator"}  # Where somebody else installs it, no PyTorchJob starts under Pod Security.
MORE = {
    name: {"version": next(iter(release(name).releases)), "managed": name in APART} for name in sorted(NAMES)
}
QUEUES = {scheduler: {**CLUSTER["queues"]["research"], "scheduler": scheduler} for scheduler in ("kueue", "volcano")}
CLUSTERS = {"test": make_cluster(operators={**CLUSTER["operators"], **MORE}, queues=QUEUES)}


def outcome(kind, word):
    file = make_job_file(kind=kind.name, launcher=f"needs-{word}", queue=kind.scheduler)
    specs = make_specs(file, clusters=CLUSTERS)
    run, findings = jobs.check(specs, specs.jobs[0])
    if any(finding.is_error for finding in findings):
        return [finding.message for finding in findings if finding.is_error]
    values = [resource.value() for resource in build(run)]
    commands = []
    for _, template in pod_sets_of(values[0], values):
        container = template["spec"]["containers"][0]
        commands.append([container["name"], *container["command"]])
    return commands


found = {}
for name, kind in kinds().items():
    for word in ("rank", "hosts", "ssh", "shell"):
        gives = word in kind.gives and not kind.required
        found[f"{name} {word}"] = [gives, kind.container, outcome(kind, word)]
print(json.dumps(found))
"""
ENTRY_POINTS = """
[trainyard.launchers]
bash = own:LAUNCHER
needs-rank = own:RANK
needs-hosts = own:HOSTS
needs-ssh = own:SSH
needs-shell = own:SHELL
[trainyard.kinds]
OwnJob = own:KIND
[trainyard.carriers]
OwnJob = own:CARRIER
"""


def own(tmp_path: Path, program: str) -> str:
    """Return what a program prints where the package is installed."""
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "own-1.dist-info").mkdir()
    (tmp_path / "own-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1\n")
    (tmp_path / "own-1.dist-info" / "entry_points.txt").write_text(ENTRY_POINTS)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": path}, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout


def test_own_launchers_and_kinds_come_by_entry_points(tmp_path):
    """The package brings a launcher, a kind and its row, by the group's older name; nothing here changes."""
    assert own(tmp_path, SHOW) == f"{PAIR}\n[] ['OwnJob', 'Service'] False\nown ['bash', 'train.py']\n"


def test_an_own_launcher_runs_in_every_kind_that_gives_what_it_needs(tmp_path):
    """There its command ends the container's; in every other kind one sentence names the kinds that can."""
    for pair, (gives, container, outcome) in json.loads(own(tmp_path, EVERYWHERE)).items():
        kind, word = pair.split()
        if gives:
            distinct = [item for at, item in enumerate(outcome) if item not in outcome[:at]]
            assert [(item[0], item[-2:]) for item in distinct] == [(container, [f"needs-{word}", "worker"])], pair
        else:
            (message,) = outcome
            assert message.startswith(f"launcher 'needs-{word}' cannot run in kind {kind!r}"), pair
            assert "; kinds that can: " in message

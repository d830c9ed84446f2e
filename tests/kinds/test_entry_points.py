"""A company's own launcher and kind come from a package that is installed beside Trainyard."""

from __future__ import annotations

import os
import subprocess
import sys

PAIR = "launcher 'torchrun' cannot run in kind 'OwnJob', which lacks 'master'; kinds that can: Job, JobSet"
OWN = """
from trainyard.carriers import Carrier, Template
from trainyard.kinds.job import Job
from trainyard.launchers import Launch, Launcher, Role


class Bash(Launcher):
    name = "bash"
    needs = frozenset({"shell"})

    def launch(self, run, sizing, wiring):
        return Launch((Role(sizing.worker, ("bash", run.job.program)),))


class OwnJob(Job):
    name = "OwnJob"
    container = "own"
    gives = frozenset({"shell"})
    objects = frozenset({"batch/OwnJob", "/Service"})


LAUNCHER, KIND = Bash(), OwnJob()
CARRIER = Carrier("batch", "OwnJob", (Template(("spec",)),), suspend=("spec", "suspend"), trains=True)
"""
SHOW = """
import sys

from make import make_job_file, make_specs
from trainyard.kinds import build
from trainyard.preflight import jobs


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
ENTRY_POINTS = """
[trainyard.launchers]
bash = own:LAUNCHER
[trainyard.kinds]
OwnJob = own:KIND
[trainyard.carriers]
OwnJob = own:CARRIER
"""


def test_own_launchers_and_kinds_come_by_entry_points(tmp_path):
    """The package brings a launcher, a kind and its row among the carriers; nothing here changes."""
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "own-1.dist-info").mkdir()
    (tmp_path / "own-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1\n")
    (tmp_path / "own-1.dist-info" / "entry_points.txt").write_text(ENTRY_POINTS)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run([sys.executable, "-c", SHOW], env={"PYTHONPATH": path}, capture_output=True, text=True)
    expected = f"{PAIR}\n[] ['OwnJob', 'Service'] False\nown ['bash', 'train.py']\n"
    assert (done.stderr, done.stdout) == ("", expected)

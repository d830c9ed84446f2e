"""Webhooks and controllers of other releases of operators, against what their own programs said of changed objects.

Beside a part of all answers the recordings hold those that tell releases apart.
"""

from __future__ import annotations

import json
from functools import cache

import pytest

from apiserver.agreement import hooks
from conftest import ROOT
from trainyard.base.findings import Severity
from trainyard.base.versions import exact
from trainyard.judge.checks.inputs import decode
from trainyard.specs.releases import releases
from trainyard.upstream.apiserver import Judge, catalog, webhooks

SAMPLE = 6
"""One recorded case in so many is judged in the quick test."""

OLDER = {"jobset": "0.11.1", "trainer": "2.2.1", "lws": "0.10.0", "volcano": "1.15.1"}
RECORDED = {
    "older": OLDER,
    "kueue-0.18.6": {
        **{name: OLDER[name] for name in ("jobset", "trainer", "lws")},
        "kueue": "0.18.6",
        "training-operator": "1.9.4",
        "kuberay": "1.6.2",
        "mpi-operator": "0.8.2",
    },
    "kuberay-1.7.0": {"kuberay": "1.7.0"},
    "kuberay-1.6.2": {"kuberay": "1.6.2"},
}
"""Releases that answered, by the name of the recording."""


@cache
def a_judge(name):
    """A cluster with these releases on which nothing but what is recorded exists; controllers refuse as webhooks do."""
    known, _ = catalog.load(ROOT / "schemas", kubernetes="1.35", projects=RECORDED[name])
    later = Severity.ERROR if name.startswith("kuberay") else Severity.WARNING
    return Judge(known, around=webhooks.gather_objects(hooks.read("around"), complete=True), refused_later=later)


def judged(judge, value, *, old=None):
    """Judge one object."""
    (manifest,), _ = decode("case.json", json.dumps(value).encode())
    return judge.judge(manifest, old=old)


def disagreements(name, every):
    """The recorded answers of which we say something else."""
    bases, edits, judge = hooks.read("bases"), hooks.read("edits"), a_judge(name)
    lines = (hooks.FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    for base, picks, by, reason in map(json.loads, lines[::every]):
        found = judged(judge, hooks.change(bases[base], edits[base], [tuple(pick) for pick in picks]))
        if (by == "valid") != (found.verdict == "valid"):
            yield base, picks, by, reason, [finding.message for finding in found.findings]


@pytest.mark.parametrize("name", RECORDED)
def test_a_sample_is_judged_as_the_releases_did(name):
    """Neither accepted nor refused otherwise than by the programs of these releases."""
    assert list(disagreements(name, SAMPLE)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED)
def test_all_is_judged_as_the_releases_did(name):
    """The same of every recorded case."""
    assert list(disagreements(name, 1)) == []


def test_changes_are_judged_as_the_releases_did():
    """What may change of an object: asked of Trainer 2.2.1, without a Kueue beside it."""
    known, _ = catalog.load(ROOT / "schemas", kubernetes="1.35", projects={"trainer": "2.2.1"})
    around = webhooks.gather_objects(hooks.read("around"), complete=True)
    judge = Judge(known, around=around, refused_later=Severity.WARNING)
    bases, edits, wrong = hooks.read("bases"), hooks.read("edits"), []
    lines = (hooks.FOLDER / "older-updates.jsonl").read_text(encoding="utf-8").splitlines()
    for name, before, picks, by, reason in map(json.loads, lines):
        old = hooks.change(hooks.settled(name, bases[name]), edits[name], before)
        found = judged(judge, hooks.change(old, edits[name], picks), old=old)
        if (by == "valid") != (found.verdict == "valid"):
            wrong.append((name, before, picks, by, reason, [finding.message for finding in found.findings]))
    assert wrong == []


PARTS = {"totalPartitions": 2, "partitionSize": 1}
KEEPS_ALL = {"rollingUpdateConfiguration": {"maxSurge": 0, "maxUnavailable": 0}}
MORE = {"template": {"spec": {"replicatedJobs": [{"name": "more"}]}}}
GROUP = hooks.read("bases")["raycluster"]["spec"]["workerGroupSpecs"][0]
GROUPS = [{**GROUP, "groupName": f"g{number}"} for number in range(12)]

BORDERS = {
    "a set of roles may not keep all pods while it rolls out": (
        *("ds", "spec|roles|0|spec|rolloutStrategy", KEEPS_ALL, "lws", "0.9.0", "0.10.0"),
    ),
    "Volcano's queues limit what they name": ("vq", "spec|capability", {"cpu": 8}, "volcano", "1.14.2", "1.14.1"),
    "Volcano's partitions need no smallest number": (
        *("vj", "spec|tasks|1|partitionPolicy", PARTS, "volcano", "1.14.3", "1.14.2"),
    ),
    "that fix is not in the first release of the next line": (
        *("vj", "spec|tasks|1|partitionPolicy", PARTS, "volcano", "1.15.1", "1.15.0"),
    ),
    "Trainer's patches add jobs": (
        "trainjob",
        "spec|runtimePatches",
        [{"manager": "a.b/c", "trainingRuntimeSpec": MORE}],
        *("trainer", "2.3.0", "2.2.1"),
    ),
    "Ray's networks need a gate": ("raycluster", "spec|networkPolicy", {}, "kuberay", "1.6.2", "1.7.0"),
    "Kueue counts few pod sets": ("raycluster", "spec|workerGroupSpecs", GROUPS, "kueue", "0.19.0", "0.18.6"),
}
"""A base, a field and its value, an operator, a release that takes the object, and one that does not."""


@pytest.mark.parametrize(("base", "path", "part", "operator", "takes", "refuses"), BORDERS.values(), ids=BORDERS)
def test_the_release_decides(base, path, part, operator, takes, refuses):
    """An object that one release takes and another refuses, by the same API types."""
    value = json.loads(json.dumps(hooks.read("bases")[base]))
    assert hooks.put(value, path, part)
    said = {}
    for release in (takes, refuses):
        projects = {operator: None, "trainer": None, "kuberay": None}
        known, _ = catalog.load(ROOT / "schemas", kubernetes="1.35", projects=projects, declared={operator: release})
        around = webhooks.gather_objects(hooks.read("around"), complete=True)
        said[release] = judged(Judge(known, around=around), value).verdict
    assert said == {takes: "valid", refuses: "invalid"}


def test_every_offered_release_of_an_operator_with_webhooks_was_compared():
    """A release that is offered says nothing of another one's webhooks; those that are not yet compared are told."""
    offered = {name: facts for name, facts in releases().items() if facts.hooks}
    assert {"jobset", "trainer", "kuberay", "mpi-operator", "volcano", "lws", "kueue"} <= offered.keys()
    missing = {
        f"{name} {release}"
        for name, facts in offered.items()
        for release in facts.releases
        if not exact(release, facts.hooks_as(release))
    }
    assert missing == set()

"""Kueue looks at the kinds, the namespaces and the queueless jobs that its configuration says, and at no others.

`scopes.jsonl` has what Kueue 0.19.2 said under the configurations of `scopes.json`, beside the webhooks of the other
operators: a base, the configuration, edits before (none where the object is new) and after, and the answer.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest

from apiserver.agreement import hooks
from conftest import ROOT
from trainyard.base.findings import Severity
from trainyard.judge.checks.inputs import decode
from trainyard.upstream.apiserver import Judge, aware, catalog, webhooks
from trainyard.upstream.kueue.scope import EVERYTHING, Scope, configurations, scope_among, scope_of

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "hooks"}}
SAMPLE = 3
"""One recorded case in so many is judged in the quick test."""


@cache
def a_judge(scope_name):
    """A cluster with all operators, whose Kueue has a configuration of the recording."""
    known, _ = catalog.load(ROOT / "schemas", kubernetes="1.35", projects=hooks.PROJECTS)
    around = webhooks.gather_objects([NAMESPACE, *hooks.read("around")], complete=True)
    scope = scope_of(hooks.read("scopes")[scope_name]) if scope_name else EVERYTHING
    return Judge(known, around=replace(around, scope=scope), refused_later=Severity.WARNING)


def judged(judge, value, old=None):
    """Judge one object."""
    (manifest,), _ = decode("case.json", json.dumps(value).encode())
    return judge.judge(manifest, old=old)


def objects(name, before, picks):
    """The object that is there, if any, and the one that is asked about."""
    base, edits = hooks.read("bases")[name], hooks.read("edits")[name]
    if before is None:
        return None, hooks.change(base, edits, picks)
    old = hooks.change(hooks.settled(name, base), edits, before)
    return old, hooks.change(old, edits, picks)


def disagreements(every):
    """The recorded answers of which we say something else."""
    lines = (hooks.FOLDER / "scopes.jsonl").read_text(encoding="utf-8").splitlines()
    for name, scope, before, picks, by, reason in map(json.loads, lines[::every]):
        old, value = objects(name, before, picks)
        found = judged(a_judge(scope), value, old)
        if (by == "valid") != (found.verdict == "valid"):
            yield name, scope, before, picks, by, reason, [finding.message for finding in found.findings]


def test_a_sample_is_judged_as_kueue_did():
    """Neither accepted nor refused otherwise than by a Kueue with that configuration."""
    assert list(disagreements(SAMPLE)) == []


@pytest.mark.slow
def test_all_is_judged_as_kueue_did():
    """The same of every recorded case."""
    assert list(disagreements(1)) == []


BAD_QUEUE = {"metadata": {"name": "a", "namespace": "hooks", "labels": {"kueue.x-k8s.io/queue-name": "a_b"}}}
JOB = {**hooks.read("bases")["job"], **BAD_QUEUE}
PLAIN = {**JOB, "metadata": {"name": "a", "namespace": "hooks"}}
QUEUED = {**JOB, "metadata": {**PLAIN["metadata"], "labels": {"kueue.x-k8s.io/queue-name": "team"}}}
POD = {**hooks.read("bases")["pod"], **BAD_QUEUE}
TEAMS = {"matchLabels": {"example.com/team": "nlp"}}
LABELLED = {**NAMESPACE, "metadata": {"name": "hooks", "labels": TEAMS["matchLabels"]}}
LWS = "leaderworkerset.x-k8s.io/leaderworkerset"
UNQUEUED = Scope(unqueued=True)

CASES = {
    "a bad queue name of a job": (JOB, None, Scope(), [NAMESPACE], False),
    "of one whose integration is on": (JOB, None, Scope(frozenset({"batch/job"})), [NAMESPACE], False),
    "of one whose integration is off": (JOB, None, Scope(frozenset({"pod"})), [NAMESPACE], True),
    "of pods that another integration needs": (POD, None, Scope(frozenset({LWS})), [NAMESPACE], False),
    "of pods that none needs": (POD, None, Scope(frozenset({"batch/job"})), [NAMESPACE], True),
    "in a namespace that is selected": (JOB, None, Scope(namespaces=TEAMS), [LABELLED], False),
    "in one that is not": (JOB, None, Scope(namespaces=TEAMS), [NAMESPACE], True),
    "in one of which nobody knows": (JOB, None, Scope(namespaces=TEAMS), [], False),
    "a queue for a job that runs": (QUEUED, PLAIN, Scope(), [NAMESPACE], False),
    "for one that is held for lack of a queue": (QUEUED, PLAIN, UNQUEUED, [NAMESPACE], True),
    "for one that such a Kueue does not select": (
        *(QUEUED, PLAIN, Scope(namespaces=TEAMS, unqueued=True), [NAMESPACE], True),
    ),
}
"""An object, the one before, a scope, the namespaces that are known, and whether the object is taken."""


@pytest.mark.parametrize(("value", "old", "scope", "around", "taken"), CASES.values(), ids=CASES)
def test_a_scope_decides(value, old, scope, around, taken):
    """The same object is refused, or not looked at."""
    known = a_judge("").catalog
    judge = Judge(known, around=replace(webhooks.gather_objects(around, complete=True), scope=scope))
    found = judged(judge, value, old)
    assert (found.verdict == "valid") == taken, [finding.message for finding in found.findings]


TEXT = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nintegrations: {frameworks: [pod]}\n"
APPLICATION = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "Application",
    "metadata": {"name": "kueue"},
    "spec": {"source": {"helm": {"valuesObject": {"managerConfig": {"controllerManagerConfigYaml": TEXT}}}}},
}
CONFIG_MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "kueue-manager-config"},
    "data": {"controller_manager_config.yaml": TEXT},
}
OTHER = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}


def test_a_configuration_among_objects_counts():
    """It is found in the values of the chart and in a ConfigMap; two that differ say nothing."""
    pods = Scope(frozenset({"pod"}))
    assert scope_among([APPLICATION]) == scope_among([CONFIG_MAP]) == scope_among([APPLICATION, CONFIG_MAP]) == pods
    assert scope_among([OTHER]) == Scope(frozenset({"batch/job"}))
    assert scope_among([APPLICATION, OTHER]) == scope_among([NAMESPACE, None, "text"]) == EVERYTHING
    assert list(configurations([{**CONFIG_MAP, "data": {"controller_manager_config.yaml": ": ["}}])) == []


def test_a_judge_reads_the_configuration_beside_its_objects():
    """Objects that are checked together with Kueue's installation are judged as that Kueue does."""
    known = a_judge("").catalog
    assert judged(aware(Judge(known), [JOB]), JOB).verdict == "invalid"
    assert judged(aware(Judge(known), [JOB, CONFIG_MAP]), JOB).verdict == "valid"

"""Kueue's webhooks are stated once: Kueue's own answer and the API server's verdict refuse the same fields."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.webhooks.around import Review
from trainyard.upstream.apiserver.webhooks.kueue import quota
from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.replay.case import Given
from trainyard.upstream.kueue.replay.webhooks import faults, refusal_reason, written_path
from trainyard.upstream.kueue.webhooks.labels import key_faults, value_faults

VERDICTS = {
    "ClusterQueue": quota.check_cluster_queue,
    "Cohort": quota.check_cohort,
    "ResourceFlavor": quota.check_flavor,
    "Workload": quota.check_workload,
}
KEYS = st.sampled_from(["a", "example.com/a", "a/b/c", "/a", "A_B/c", "-", "x" * 64, "", "nvidia.com/gpu"])
AMOUNTS = st.sampled_from(["0", "1", "10", "-1", "1n", "500m", 3, None])
TEXTS = st.sampled_from(["", "a", "b", "-", "x" * 64])
CHANCE = {"max_examples": 300, "deadline": None}


def maps(**fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Draw an object that has any of some fields."""
    return st.fixed_dictionaries({}, optional=fields)


QUOTA = st.fixed_dictionaries(
    {"name": KEYS, "nominalQuota": st.sampled_from(["0", "1", "-1", "4"])},
    optional={"borrowingLimit": AMOUNTS, "lendingLimit": AMOUNTS},
)
GROUPS = st.lists(
    st.fixed_dictionaries(
        {
            "coveredResources": st.lists(KEYS, max_size=2),
            "flavors": st.lists(
                st.fixed_dictionaries({"name": TEXTS, "resources": st.lists(QUOTA, max_size=2)}), max_size=3
            ),
        }
    ),
    max_size=2,
)
SELECTOR = maps(
    matchLabels=st.dictionaries(KEYS, TEXTS, max_size=2),
    matchExpressions=st.lists(
        st.fixed_dictionaries(
            {"key": KEYS, "operator": st.sampled_from(["In", "Exists", "x"])},
            optional={"values": st.lists(TEXTS, max_size=2)},
        ),
        max_size=2,
    ),
)
QUEUE = maps(
    cohortName=TEXTS,
    resourceGroups=GROUPS,
    namespaceSelector=SELECTOR,
    preemption=maps(
        reclaimWithinCohort=st.sampled_from(["Never", "Any"]),
        borrowWithinCohort=maps(policy=st.sampled_from(["Never", "LowerPriority"])),
    ),
    flavorFungibility=maps(
        preference=st.just("BorrowingOverPreemption"),
        whenCanBorrow=st.sampled_from(["MayStopSearch", "TryNextFlavor"]),
        whenCanPreempt=st.sampled_from(["MayStopSearch", "TryNextFlavor"]),
    ),
    fairSharing=maps(weight=AMOUNTS),
    admissionChecksStrategy=maps(
        admissionChecks=st.lists(
            st.fixed_dictionaries({"name": TEXTS, "onFlavors": st.lists(TEXTS, max_size=2)}), max_size=2
        )
    ),
)
RESOURCES = maps(requests=st.dictionaries(st.sampled_from(["cpu", "pods"]), st.sampled_from(["1", "-1"]), max_size=2))
POD_SET = maps(
    minCount=st.integers(0, 2),
    template=maps(
        metadata=maps(labels=st.dictionaries(KEYS, TEXTS, max_size=2), annotations=st.dictionaries(KEYS, TEXTS)),
        spec=maps(containers=st.lists(maps(resources=RESOURCES), max_size=2), resources=RESOURCES),
    ),
    topologyRequest=maps(
        podSetSliceSize=st.sampled_from([None, 0, 1, -1]),
        podSetSliceRequiredTopology=TEXTS,
        podsetSliceRequiredTopologyConstraints=st.lists(maps(size=st.integers(-1, 2)), max_size=2),
    ),
)
SPECS = {
    "ClusterQueue": QUEUE,
    "Cohort": maps(parentName=TEXTS, resourceGroups=GROUPS, fairSharing=maps(weight=AMOUNTS)),
    "ResourceFlavor": maps(
        nodeLabels=st.dictionaries(KEYS, TEXTS, max_size=2),
        nodeTaints=st.lists(maps(key=KEYS, value=TEXTS, effect=st.sampled_from(["NoSchedule", "NoExecute"]))),
        tolerations=st.lists(maps(key=KEYS), max_size=2),
    ),
    "Workload": maps(podSets=st.lists(POD_SET, max_size=3)),
}
OBJECTS = st.one_of([st.tuples(st.just(kind), st.fixed_dictionaries({"spec": spec})) for kind, spec in SPECS.items()])


def of_case(kind: str, value: dict[str, Any]) -> Given:
    """Return an object of a case."""
    return Given(kind, "", "a", "", 0, value)


@given(OBJECTS)
@settings(**CHANCE)
def test_both_faces_refuse_the_same_at_the_same_fields(drawn):
    """Whatever is drawn: a case of Kueue and the verdict on a manifest name the same fields."""
    kind, value = drawn
    ours = {fault.path for fault in faults(of_case(kind, value), Gates())}
    verdict = {problem.path for problem in VERDICTS[kind](Review(value))}
    assert ours == verdict
    assert (refusal_reason(of_case(kind, value), Gates()) is None) == (not verdict)


@given(st.text("aA0-_./", max_size=8) | KEYS | st.text("a", min_size=60, max_size=70))
@settings(**CHANCE)
def test_keys_and_values_of_labels_are_judged_alike(text):
    """What the words of Kueue's library refuse is what the checks of metadata refuse."""
    assert bool(list(key_faults(text, ()))) == bool(names.label_key(text))
    assert bool(list(value_faults(text, ()))) == bool(names.label_value(text))


def group(flavors: int, resources: int = 1) -> dict[str, Any]:
    """Return a resource group of so many flavors."""
    covered = [f"example.com/r{number}" for number in range(resources)]
    quotas = [{"name": name, "nominalQuota": "1"} for name in covered]
    return {
        "coveredResources": covered,
        "flavors": [{"name": f"f{number}", "resources": quotas} for number in range(flavors)],
    }


TEMPLATE = {"template": {"metadata": {"labels": {"a": "-"}}, "spec": {"containers": []}}}
NOTES = {"template": {"metadata": {"annotations": {"a/b/c": ""}}, "spec": {"containers": []}}}
REFUSED = {
    "more flavors than a queue may have": (
        "ClusterQueue",
        {"resourceGroups": [group(257)]},
        "spec.resourceGroups: Invalid value: 257: total number of flavors across all resourceGroups must be ≤ 256",
    ),
    "more covered resources than a queue may have": (
        "ClusterQueue",
        {"resourceGroups": [group(1, 257)]},
        "Invalid value: 257: total number of covered resources across all resourceGroups must be ≤ 256, got 257",
    ),
    "more pairs than a group may have": (
        "ClusterQueue",
        {"resourceGroups": [group(33, 16)]},
        "spec.resourceGroups[0]: Invalid value: 528: number of flavor-resource combinations in a resourceGroup must",
    ),
    "a label of pods that is none": ("Workload", {"podSets": [TEMPLATE]}, "template.metadata.labels: Invalid value"),
    "an annotation of pods that is none": ("Workload", {"podSets": [NOTES]}, "template.metadata.annotations: Invalid"),
}


@pytest.mark.parametrize(("kind", "spec", "words"), REFUSED.values(), ids=REFUSED)
def test_what_upstream_refuses_kueues_own_answer_refuses(kind, spec, words):
    """Limits of whole queues and metadata of pod sets, in upstream's words (kueue v0.19.2 pkg/webhooks)."""
    assert words in str(refusal_reason(of_case(kind, {"spec": spec}), Gates()))


def test_the_gate_of_pod_set_metadata_counts():
    """With WorkloadValidationForPodSetMetadata off, Kueue takes any labels."""
    gates = Gates({"WorkloadValidationForPodSetMetadata": False})
    assert refusal_reason(of_case("Workload", {"spec": {"podSets": [TEMPLATE]}}), gates) is None


def test_paths_are_written_as_go_writes_them():
    """Places are in brackets."""
    assert written_path(("spec", "podSets", 0, "name")) == "spec.podSets[0].name"

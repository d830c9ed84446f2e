"""Everything that selects nodes of a pool reads the same labels: the pool's selector, or the label of its name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everything import EVERYTHING
from make import make_run, make_specs
from sources import package
from trainyard.base.labels import POOL
from trainyard.base.pools import excludes, node_terms, selected_pools, selector_of
from trainyard.judge.admission.inventory import nodes
from trainyard.render.clusters import folders, karpenter, node_files
from trainyard.render.kinds import build, resolve
from trainyard.render.parts.objects import Resource
from trainyard.render.prerequisites import prerequisites
from trainyard.specs import Cluster
from trainyard.upstream.pods.selection import meets

TENANCY = "tenancy.trainyard.dev/gpupools"
ROCE = {"type": "roce", "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/16", "memlock": "node"}
SCALING = {
    "by": "karpenter",
    "nodeClass": {
        "image": "al2023@v20260810",
        "role": "r",
        "subnets": ["subnet-0b1c2d3e4f5061728"],
        "securityGroups": ["sg-0b1c2d3e4f5061728"],
    },
}
SITES: dict[str, dict[str, Any]] = {
    "one of everything": {},
    "OpenShift": {"system": {"distribution": "openshift", "runtime": "cri-o"}},
    "drivers of pools": {
        "pools": {
            "h100": {**EVERYTHING["pools"]["h100"], "system": {"gpuDriverVersion": "580.126.20"}},
            "cpu": EVERYTHING["pools"]["cpu"],
        }
    },
    "Karpenter": {
        "system": {"distribution": "eks"},
        "fabric": {"type": "efa", "memlock": "node", "pools": ["p5"]},
        "pools": {
            "p5": {"shape": "aws-p5-48xlarge", "nodes": {"min": 0, "max": 4}, "scaling": SCALING},
            "cpu": EVERYTHING["pools"]["cpu"],
        },
        "topology": None,
    },
}


def cluster(site: str, labels: Any = None) -> Cluster:
    """Return a cluster; `labels` gives the selector of each of its pools."""
    value = {**EVERYTHING, **SITES[site]}
    value = {key: item for key, item in value.items() if item is not None}
    pools = {name: {**pool, **({"selector": labels(name)} if labels else {})} for name, pool in value["pools"].items()}
    queue = {"teams": ["nlp"], "nominalQuota": {name: {"nodes": 1} for name in pools}}
    return Cluster.model_validate({**value, "pools": pools, "queues": {"research": queue}, "cohorts": {}})


def objects(there: Cluster) -> Iterator[tuple[str, Any]]:
    """Yield all that is made of a cluster, its nodes and a job on each pool and on all of them included."""
    specs = make_specs(clusters={"test": there})
    for path, resources in folders(specs, "test").items():
        yield from ((f"{path}/{one.kind}/{one.name}", one.value()) for one in resources)
    for path, files in node_files(there).items():
        yield from ((f"{path}/{file.name}", file.text) for file in files)
    yield from ((f"Karpenter/{one.kind}/{one.name}", one.value()) for one in karpenter.resources(there))
    yield from ((f"node/{one['metadata']['name']}", one) for one in nodes(there))
    names = list(there.pools)
    for pools in (*names, names):
        run = make_run(cluster=there, pool=pools, gpus_per_node=0, nodes=1, kind="JobSet")
        parts: list[Resource] = list(build(resolve(run)))
        yield from ((f"run on {pools}/{one.kind}", one.value()) for one in parts)


def is_tenancy(name: str) -> bool:
    """Whether an object has the tenants' lists or the conditions on them, which say selectors in another way."""
    return "/ValidatingAdmissionPolicy" in name or "/Namespace/" in name


def is_marked(name: str) -> bool:
    """Whether an object of OpenShift's is found by the usual label, which is its own there and not that of nodes."""
    return name.endswith(("/machineconfigpool.yaml", "/kubeletconfig.yaml"))


def relabelled(value: Any) -> Any:
    """Return a value in which another label stands for the label of pools, its keys in order."""
    return json.loads(json.dumps(value, sort_keys=True).replace(POOL, "example.com/pool"))


@pytest.mark.parametrize("site", SITES)
def test_a_selector_takes_the_place_of_the_label_everywhere(site: str) -> None:
    """With the same value under another key, the rest of every object stays as it is."""
    before = dict(objects(cluster(site)))
    after = dict(objects(cluster(site, lambda name: {"example.com/pool": name})))
    assert before.keys() == after.keys()
    assert [name for name in before if POOL in json.dumps(before[name])]
    for name, value in before.items():
        if not is_tenancy(name):
            assert relabelled(value) == relabelled(after[name]), name
            assert is_marked(name) or POOL not in json.dumps(after[name]), name


@pytest.mark.parametrize("site", SITES)
def test_all_labels_of_a_selector_select(site: str) -> None:
    """No object has one of two labels alone, and the usual one is in none but as a mark of OpenShift's own objects."""
    for name, value in objects(cluster(site, lambda name: {"example.com/pool": name, "example.com/site": "a"})):
        text = json.dumps(value)
        assert text.count("example.com/pool") == text.count("example.com/site"), name
        assert is_marked(name) or POOL not in text, name


def test_prerequisites_ask_for_the_labels() -> None:
    """In words, and in what a machine asks."""
    there = cluster("one of everything", lambda name: {"example.com/pool": name, "example.com/site": "a"})
    rows = [item for items in prerequisites(make_specs(clusters={"test": there}), "test").values() for item in items]
    assert any("the labels `example.com/pool=h100` and `example.com/site=a`" in item.what for item in rows)
    assert not any(POOL in f"{item.what} {item.get} {item.look}" for item in rows)


READERS = {
    "base/pools.py",
    "checks.py",
    "judge/admission/gangs.py",
    "judge/preflight/cluster/inventory.py",
    "judge/preflight/cluster/selectors.py",
    "judge/preflight/job/origins.py",
    "render/clusters/node_forms.py",
    "render/clusters/talos_forms.py",
    "render/prerequisites/scaling.py",
    "render/tenancy/placing.py",
}
"""Who names the usual label itself: its home, the checks on it, and marks that are not of nodes."""


def test_nobody_else_names_the_usual_label() -> None:
    """Whoever selects nodes asks for the selector of their pool."""
    assert {name for name, module in package().items() if "trainyard.base.labels.POOL" in module.imports} == READERS


NAMES = ("a", "b", "c", "d")
OWN = st.fixed_dictionaries({}, optional={"x": st.sampled_from("12"), "y": st.sampled_from("12")})


@given(st.tuples(*(OWN for _ in NAMES)), st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
def test_pods_that_may_be_on_pools_are_read_as_they_are_written(own: Any, wanted: list[str]) -> None:
    """The affinity of several pools leads to their nodes alone, and is read back as the same pools."""
    selectors = {name: selector_of(name, labels) for name, labels in zip(NAMES, own, strict=True)}
    apart = [name for name in NAMES if name not in wanted]
    if not all(excludes(selectors[one], selectors[name]) for one in wanted for name in NAMES if name != one):
        return
    required = {"nodeSelectorTerms": node_terms(selectors[name] for name in wanted)}
    spec = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}
    assert set(selected_pools(spec, selectors)) == set(wanted)
    assert all(selected_pools({"nodeSelector": selectors[name]}, selectors) == (name,) for name in wanted)
    assert all(meets(required, name, selectors[name]) for name in wanted)
    assert not any(meets(required, name, selectors[name]) for name in apart)


def test_pools_with_the_usual_label_are_one_expression() -> None:
    """In the order in which they are wanted; other labels stand in terms of their own."""
    usual = [selector_of(name) for name in ("b", "a")]
    assert node_terms(usual) == [{"matchExpressions": [{"key": POOL, "operator": "In", "values": ["b", "a"]}]}]
    assert len(node_terms([*usual, {"x": "1"}, {"x": "1", "y": "2"}])) == 3


def test_a_digest_does_not_know_selectors() -> None:
    """So a new selector starts no run anew: runs that exist keep the labels that they select."""
    runs = [
        make_run(cluster=cluster("one of everything", labels), pool="h100") for labels in (None, lambda n: {"a": n})
    ]
    assert runs[0].name == runs[1].name

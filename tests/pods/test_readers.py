"""All who read a pod say the same of it: what it asks for, and its quality of service."""

from __future__ import annotations

import copy
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from make import make_resolved
from trainyard.base.documents import Document
from trainyard.base.manifests import Manifest
from trainyard.base.quantities import Quantity
from trainyard.change.plan.read.requests import of_pod
from trainyard.change.plan.read.shape import shape
from trainyard.judge.policies.amounts import is_guaranteed, needs
from trainyard.judge.policies.world import World
from trainyard.render.kinds import build
from trainyard.render.sizing import pod_requests
from trainyard.render.sizing.daemons import Container, Daemon
from trainyard.upstream.apiserver.core.pods.resources import check_pod_resources
from trainyard.upstream.kueue.requests.adjust import counted_as
from trainyard.upstream.kueue.requests.amounts import written_amounts
from trainyard.upstream.pods.pod import Pod
from trainyard.upstream.scheduler import Wanted
from two_sockets import cluster

GPU = "nvidia.com/gpu"
SPELLINGS = {
    "cpu": ("1", 2, "1000m", "2000m", "0.5", "500m", "5e-1", "1.5", "+3", "0"),
    "memory": ("1Gi", "1024Mi", "1073741824", "1.5Gi", "1536Mi", "1e9", "1G", 1000000000, "0"),
    "ephemeral-storage": ("1Gi", "10G"),
    GPU: ("1", 1, "2", "1k"),
}
"""Amounts of each resource, some of them twice in other words."""


def resources(*names: str) -> st.SearchStrategy[dict[str, Any]]:
    """Requests, limits, both or none; devices are limits, as the API server wants them."""
    amounts = st.fixed_dictionaries({}, optional={name: st.sampled_from(SPELLINGS[name]) for name in names})
    return st.fixed_dictionaries({}, optional={"requests": amounts, "limits": amounts})


CONTAINERS = st.lists(resources(*SPELLINGS), min_size=1, max_size=3)
INITIAL = st.lists(st.tuples(resources(*SPELLINGS), st.booleans()), max_size=4)
WHOLE = st.none() | st.fixed_dictionaries(
    {"requests": st.fixed_dictionaries({name: st.sampled_from(SPELLINGS[name]) for name in ("cpu", "memory")})},
    optional={"limits": resources("cpu", "memory").map(lambda item: item.get("limits", {}))},
)
OVERHEAD = st.none() | st.fixed_dictionaries({"cpu": st.sampled_from(("250m", "0.25"))})


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    """A pod's specification: containers, init containers, sidecars between them, overhead, its own resources."""
    spec: dict[str, Any] = {
        "containers": [{"name": f"c{index}", "resources": item} for index, item in enumerate(draw(CONTAINERS))],
        "initContainers": [
            {"name": f"i{index}", "resources": item} | ({"restartPolicy": "Always"} if stays else {})
            for index, (item, stays) in enumerate(draw(INITIAL))
        ],
    }
    more = {"resources": draw(WHOLE), "overhead": draw(OVERHEAD)}
    return spec | {field: drawn for field, drawn in more.items() if drawn is not None}


def amounts(container: dict[str, Any]) -> dict[str, Fraction]:
    """What a container asks for; a limit stands for a request that is not written."""
    listed = container["resources"]
    return {
        name: Fraction(Quantity.parse(value).amount)
        for name, value in {**listed.get("limits", {}), **listed.get("requests", {})}.items()
    }


def total(containers: list[dict[str, Any]]) -> dict[str, Fraction]:
    """Their sum."""
    listed = [amounts(container) for container in containers]
    return {
        name: sum((entry.get(name, Fraction(0)) for entry in listed), Fraction(0)) for item in listed for name in item
    }


def expected(spec: dict[str, Any]) -> dict[str, Fraction]:
    """The most that runs at any moment of the pod's life, its own requests in place of it, and its overhead."""
    sidecars: list[dict[str, Any]] = []
    moments = []
    for container in spec["initContainers"]:
        moments.append(total([*sidecars, container]))
        sidecars += [container] if container.get("restartPolicy") == "Always" else []
    moments.append(total([*sidecars, *spec["containers"]]))
    found = {name: max(moment.get(name, Fraction(0)) for moment in moments) for moment in moments for name in moment}
    own = spec.get("resources", {}).get("requests", {})
    found |= {name: Fraction(Quantity.parse(value).amount) for name, value in own.items()}
    for name, value in spec.get("overhead", {}).items():
        found[name] = found.get(name, Fraction(0)) + Fraction(Quantity.parse(value).amount)
    return found


def exact(found: Any) -> dict[str, Fraction]:
    """Quantities, numbers or needs as fractions."""
    return {name: Fraction(getattr(value, "amount", value)) for name, value in found.items()}


def manifest(spec: dict[str, Any]) -> Manifest:
    """A Job of such pods."""
    value = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {"spec": spec}}}
    return Manifest(Document("", 0, value), value)


TEMPLATE = ("spec", "template")


@given(specs())
def test_all_readers_say_what_a_pod_asks_for(spec: dict[str, Any]) -> None:
    """The kubelet's and the scheduler's, Kueue's, policies' and plans' sums are those of its fullest moment."""
    whole = expected(spec)
    assert exact(Pod.read({"spec": spec}).asked) == whole
    assert exact(Pod.of(spec).asked) == whole
    assert exact(Wanted(spec).pod.asked) == whole
    assert exact(needs(manifest(spec), TEMPLATE)) == whole
    assert of_pod(spec) == pytest.approx({name: float(value) for name, value in whole.items()})
    assert exact(written_amounts(counted_as(spec, {}, SimpleNamespace(runtime_classes={})))) == whole


@given(specs())
def test_every_need_is_where_its_resource_is_written(spec: dict[str, Any]) -> None:
    """The place of what a policy says of a pod names the resource."""
    for name, need in needs(manifest(spec), TEMPLATE).items():
        assert need.place.path[-1] == name
        assert need.place.manifest.get(*need.place.path) is not None


@given(specs())
def test_daemons_ask_for_what_their_pods_do(spec: dict[str, Any]) -> None:
    """What is kept of a node for daemons follows from their containers, sidecars among them."""
    spec = {name: spec[name] for name in ("containers", "initContainers")}
    containers = [
        Container(
            init_container["name"],
            *(
                {name: str(value) for name, value in init_container["resources"].get(kind, {}).items()}
                for kind in KINDS
            ),
            init="i" in init_container["name"],
            sidecar="restartPolicy" in init_container,
        )
        for init_container in (*spec["initContainers"], *spec["containers"])
    ]
    daemon, pod = Daemon("a", "kube-system", tuple(containers), ()), Pod.of(spec)
    assert {name: daemon.requests(name) for name in pod.asked} == expected(spec)
    assert daemon.guaranteed == pod.guaranteed == is_guaranteed(spec) == guaranteed(spec)


KINDS = ("requests", "limits")


def guaranteed(spec: dict[str, Any]) -> bool:
    """Whether all containers have limits of CPU and memory, and requests that come to the same sums."""
    containers = (*spec["initContainers"], *spec["containers"])
    limits = [container["resources"].get("limits", {}) for container in containers]
    if not all(Quantity.parse(limit.get(name, 0)) for limit in limits for name in ("cpu", "memory")):
        return False
    wholes = [sum(Fraction(Quantity.parse(limit[name]).amount) for limit in limits) for name in ("cpu", "memory")]
    asked_for = [amounts(container) for container in containers]
    return wholes == [sum(item[name] for item in asked_for) for name in ("cpu", "memory")]


@given(specs())
def test_the_api_server_adds_up_as_the_scheduler_does(spec: dict[str, Any]) -> None:
    """A pod's own requests are refused where they are a thousandth less than its containers ask for, and no sooner."""
    spec = {name: spec[name] for name in ("containers", "initContainers")}
    for container in (*spec["initContainers"], *spec["containers"]):
        container["resources"] = {"requests": amounts_as_texts(container)}
    least = expected(spec).get("cpu", Fraction(0))
    for less, refused in ((0, False), (1, least > 0)):
        own = {"requests": {"cpu": f"{max(0, int(least * 1000) - less)}m"}}
        found = list(check_pod_resources({**copy.deepcopy(spec), "resources": own}, set(), ()))
        assert [item.path for item in found] == [("resources", "requests", "cpu")] * refused


def amounts_as_texts(container: dict[str, Any]) -> dict[str, str]:
    """What a container asks for of CPU and memory, as the server writes it."""
    return {name: f"{int(amount * 1000)}m" for name, amount in amounts(container).items() if name in ("cpu", "memory")}


SIDECAR = {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}
INIT = {"name": "init", "resources": {"requests": {"cpu": "4"}}}
MAIN = {"name": "main", "resources": {"requests": {"cpu": "1"}}}


def test_a_plan_counts_the_sidecars_that_run_beside_an_init_container() -> None:
    """A sidecar of 1 CPU, an init container of 4 and a main one of 1 ask for 5 CPUs, not for 4."""
    assert of_pod({"initContainers": [SIDECAR, INIT], "containers": [MAIN]}) == {"cpu": 5}
    assert of_pod({"initContainers": [INIT, SIDECAR], "containers": [MAIN]}) == {"cpu": 4}


def test_a_plan_counts_what_the_pod_asks_for_as_a_whole() -> None:
    """Requests of the pod count instead of its containers', and overhead beside them."""
    assert of_pod({"resources": {"requests": {"cpu": 6}}, "containers": [MAIN], "overhead": {"cpu": "500m"}}) == {
        "cpu": 6.5
    }


def test_a_plan_counts_the_gpus_of_sidecars() -> None:
    """A run holds the devices of all its containers."""
    side = {**SIDECAR, "resources": {"limits": {GPU: 1}}}
    pods = {"initContainers": [side], "containers": [{"name": "main", "resources": {"limits": {GPU: 8}}}]}
    assert shape([manifest(pods).value], {}).gpus == 9


SPELLED = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1000m", "memory": "1024Mi"}}


def test_guaranteed_is_told_by_amounts_not_by_texts() -> None:
    """Limits of 1 and 1Gi are requests of 1000m and 1024Mi."""
    assert is_guaranteed({"containers": [{"name": "a", "resources": SPELLED}]})
    assert not is_guaranteed({"containers": [{"name": "a", "resources": {**SPELLED, "requests": {"cpu": "999m"}}}]})
    assert not is_guaranteed({"containers": [{"name": "a", "resources": SPELLED}], "resources": SPELLED})


def test_a_daemon_asks_for_its_sidecars_too() -> None:
    """They go on beside its containers, and beside the init containers after them."""
    containers = (
        Container("side", {"cpu": "1"}, sidecar=True),
        Container("init", {"cpu": "4"}, init=True),
        Container("main", {"cpu": "1"}),
    )
    daemon = Daemon("a", "kube-system", containers, ())
    assert daemon.cpus == 5
    assert [init_container["name"] for init_container in daemon.pod()["spec"]["initContainers"]] == ["side", "init"]


OWN: dict[str, dict[str, Any]] = {
    "nothing beside the training container": {},
    "a sidecar": {"containers": [{"name": "a", "resources": {"limits": {"cpu": 2, "memory": "1Gi"}}}]},
    "a large init container": {"init_containers": [{"name": "a", "resources": {"requests": {"cpu": "40"}}}]},
    "a sidecar before a large init container": {
        "init_containers": [
            {"name": "a", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1500m"}}},
            {"name": "b", "resources": {"requests": {"cpu": "30"}}},
        ]
    },
}


@pytest.mark.parametrize("own", OWN.values(), ids=OWN)
def test_a_job_is_sized_as_its_pods_are_read(own: dict[str, Any]) -> None:
    """What preflight counts for a pod of the workers is what policies read in the object that is rendered."""
    run = make_resolved(cluster=cluster(), gpus_per_node=4, cpus_per_node=8, memory_per_node="8Gi", **own)
    values = [item.value() for item in build(run)]
    (job,) = World(tuple(Manifest(Document("", 0, value), value) for value in values)).training_jobs()
    (pods,) = job.pod_sets()
    assert exact(pods.needs) == exact(pod_requests(run.run.job, run.sizing.worker))


MALFORMED: dict[str, Any] = {
    "containers that are no list": {"containers": {"name": "a"}},
    "a container that is no map": {"containers": ["a", MAIN]},
    "amounts that are no map": {"containers": [{"name": "a", "resources": {"limits": ["cpu"]}}]},
    "amounts that are no quantities": {
        "containers": [{"name": "a", "resources": {"limits": {"cpu": "lots", "memory": True}}}]
    },
    "overhead that is a text": {"containers": [], "overhead": "1"},
}


@pytest.mark.parametrize("spec", MALFORMED.values(), ids=MALFORMED)
def test_what_nobody_has_checked_is_read_as_far_as_it_can_be(spec: dict[str, Any]) -> None:
    """Malformed parts are another check's findings, and ask for nothing here."""
    cpus = {"cpu": 1} if spec["containers"] == ["a", MAIN] else {}
    assert exact(Pod.of(spec).asked) == exact(needs(manifest(spec), TEMPLATE)) == of_pod(spec) == cpus

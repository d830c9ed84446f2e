"""The daemons on nodes of a pool ask for what their charts say, ours over it, and the cluster's values over that."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from everything import EVERYTHING, OPERATORS, everything
from make import make_cluster, make_pool
from trainyard.base.quantities import Quantity
from trainyard.base.versions import order
from trainyard.render.operators import operators
from trainyard.render.operators.helm import defaults
from trainyard.render.operators.install import sites, values
from trainyard.render.sizing.daemons import Container, Daemon, daemons
from trainyard.render.sizing.machines import available
from trainyard.render.sizing.node import cores, size
from trainyard.render.sizing.starts import Node, node
from trainyard.specs import Cluster
from trainyard.specs.models.daemons import OPERATORS as ROOM
from trainyard.specs.releases import release, releases
from trainyard.specs.releases.facts import DaemonContainer, lookup

OF_A_CHART = [
    pytest.param(name, version, container, id=f"{name}-{version}-{container.value}")
    for name, facts in releases().items()
    for version in facts.releases
    for container in {
        one_container.value: one_container for daemon in facts.daemons for one_container in daemon.containers
    }.values()
    if container.value and (facts.oldest is None or order(version) >= order(facts.oldest.version))
]


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two maps have the same quantities."""
    return {name: Quantity.parse(item) for name, item in one.items()} == {
        name: Quantity.parse(item) for name, item in other.items()
    }


FALLS_BACK = {"aws-ebs-csi-driver"}
"""Operators whose chart takes the amounts of all its containers where one has none (templates/_node.tpl)."""


@pytest.mark.parametrize(("name", "version", "container"), OF_A_CHART)
def test_what_is_known_of_a_daemon_is_what_its_chart_says(root, name: str, version: str, container: DaemonContainer):
    """At every release that can be installed, where the chart has a value for it."""
    (site,) = sites(everything(operators={name: {"version": version}}))
    shipped = defaults(site, root / "schemas")
    assert shipped is not None
    assert container.value is not None
    said = lookup(shipped.values, container.value)
    if said is None:
        assert name in {"amd-gpu-operator", "ceph-csi-drivers", "kube-prometheus-stack", "volcano"}, (
            "the chart of another has amounts that it does not mention"
        )
        return
    if not said and name in FALLS_BACK:
        return
    for kind in ("requests", "limits"):
        assert same(getattr(container.resources, kind), said.get(kind) or {}), (kind, said)


def found(cluster: Cluster, pool: str = "h100") -> dict[str, Daemon]:
    """Return the daemons of a pool by name."""
    return {daemon.name: daemon for daemon in daemons(cluster, pool)}


def test_daemons_are_on_the_nodes_that_they_are_for():
    """By vendor of GPUs, on the fabric, everywhere, and controllers where no taint keeps them away."""
    cluster = everything()
    nvidia, amd, cpu = (set(found(cluster, pool)) for pool in ("h100", "mi300x", "cpu"))
    assert {"nvidia-device-plugin-daemonset", "sriov-device-plugin", "multus", "whereabouts", "nfd-worker"} <= nvidia
    assert {"metrics-exporter", "multus"} <= amd
    assert not {"metrics-exporter", "whereabouts-reconciler"} & nvidia
    assert not {"nvidia-device-plugin-daemonset", "sriov-device-plugin"} & (amd | cpu)
    assert {"whereabouts-reconciler", "kueue-controller-manager"} <= cpu


@pytest.mark.parametrize("pool", ["h100", "mi300x", "cpu"])
def test_no_daemon_of_ours_is_guaranteed(pool):
    """Beside one, a kubelet that pins memory admits no pod of a whole node; it is what the chart would install."""
    assert [name for name, value in found(everything(), pool).items() if value.guaranteed] == []
    by_others = {"whereabouts": {**OPERATORS["whereabouts"], "managed": False}}
    assert found(everything(operators=by_others), pool)["whereabouts"].guaranteed


def test_what_is_known_is_what_is_installed():
    """The chart's values of every operator say what its daemons are known to ask for."""
    for site in sites(everything()):
        facts, ours = release(site.name), values(site, operators()[site.name])
        assert facts is not None
        for container in (container for daemon in facts.daemons for container in daemon.containers if container.sets):
            assert lookup(ours, container.value or "") == container.sets.model_dump()


SAID: dict[str, tuple[dict[str, Any], bool, str, str]] = {
    "nothing": ({}, False, "0.1", "50Mi"),
    "equal limits": ({"resources": {"limits": {"cpu": "100m", "memory": "50Mi"}}}, True, "0.1", "50Mi"),
    "equal limits of another spelling": (
        {"resources": {"limits": {"cpu": 0.1, "memory": "51200Ki"}}},
        True,
        "0.1",
        "50Mi",
    ),
    "limits alone, which become requests": (
        {"resources": {"requests": {"cpu": None, "memory": None}, "limits": {"cpu": 2, "memory": "1Gi"}}},
        True,
        "2",
        "1Gi",
    ),
    "no limits": ({"resources": {"limits": {"cpu": None, "memory": None}}}, False, "0.1", "50Mi"),
    "more requests": ({"resources": {"requests": {"cpu": "1", "memory": "150Mi"}}}, False, "1", "150Mi"),
}


@pytest.mark.parametrize(("given", "guaranteed", "cpus", "memory"), SAID.values(), ids=SAID)
def test_values_of_the_cluster_are_merged_as_helm_does(given, guaranteed, cpus, memory):
    """A null takes a default away, what is not said stays."""
    chosen = {"whereabouts": {**OPERATORS["whereabouts"], "values": given}}
    daemon = found(everything(operators=chosen))["whereabouts"]
    assert (daemon.guaranteed, daemon.cpus, daemon.memory) == (guaranteed, cores(cpus), size(memory))
    assert daemon.at == (("operators", "whereabouts", "values", "resources") if given else ("operators", "whereabouts"))


def test_what_is_no_quantity_in_the_clusters_values_is_left_out():
    """Its limit stands for a request that is none; the kubelet is asked all the same."""
    given = {"resources": {"requests": {"cpu": "lots", "memory": "150Mi"}, "limits": {"memory": None}}}
    cluster = everything(operators={"whereabouts": {**OPERATORS["whereabouts"], "values": given}})
    daemon = found(cluster, "cpu")["whereabouts"]
    assert (daemon.cpus, daemon.memory) == (1, size("150Mi"))
    assert isinstance(node(cluster, "cpu"), Node)


def test_a_daemon_that_is_switched_off_is_not_there():
    """Where the chart has a switch for it and the cluster uses it."""
    chosen = {"gpu-operator": {**OPERATORS["gpu-operator"], "values": {"migManager": {"enabled": False}}}}
    names = set(found(everything(operators=chosen)))
    assert "nvidia-mig-manager" not in names
    assert "nvidia-dcgm-exporter" in names


def test_a_pod_asks_for_its_containers_or_for_an_init_container():
    """Init containers end before the others start; one without limits ends Guaranteed as well."""
    pinned = {"cpu": "1", "memory": "1Gi"}
    first, second = Container("a", pinned, pinned), Container("b", {}, pinned)
    daemon = Daemon("x", "n", (first, second), ())
    assert (daemon.cpus, daemon.memory, daemon.guaranteed) == (2, 2 * 2**30, True)
    started = Daemon("x", "n", (Container("i", {"cpu": "5"}, {}, init=True), first), ())
    assert (started.cpus, started.memory, started.guaranteed) == (5, 2**30, False)
    assert started.pod()["spec"] == {
        "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "5"}}}],
        "containers": [{"name": "a", "resources": {"requests": pinned, "limits": pinned}}],
    }


def test_daemons_of_others_take_the_place_of_what_the_shape_assumes():
    """What a pool tells is kept beside room for the cluster's operators; untold, the shape's assumption holds."""
    storage = {"name": "storage", "cpus": 4, "memory": "24Gi", "guaranteed": True}
    told = [storage, {"name": "logs", "cpus": "500m", "memory": "1Gi"}]
    pool, untold = make_pool(shape="dgx-h100", daemons=told), make_pool(shape="dgx-h100")
    assert available(untold).cpus - available(pool).cpus == Fraction("5.5") - 8
    assert available(untold).memory - available(pool).memory == size("27Gi") - size("48Gi")
    cluster = make_cluster(pools={"h100": {"shape": "dgx-h100", "nodes": 1, "daemons": told}}, queues={})
    by_name = found(cluster)
    assert [by_name[name].guaranteed for name in ("storage", "logs")] == [True, False]
    assert by_name["logs"].at == ("pools", "h100", "daemons", 1)


@pytest.mark.parametrize("pool", ["h100", "mi300x", "cpu"])
def test_our_operators_fit_into_the_room_that_is_kept_for_them(pool):
    """All that can be installed together, by defaults; of the storage drivers, a cluster has few."""
    drivers = {name for name, facts in releases().items() if facts.provisions} - {"csi-driver-nfs"}
    few = {name: choice for name, choice in EVERYTHING["operators"].items() if name not in drivers}
    found = daemons(everything(operators=few), pool)
    everywhere = [daemon for daemon in found if daemon.everywhere]
    assert sum(item.cpus for item in everywhere) <= cores(ROOM.cpus)
    assert sum(item.memory for item in everywhere) <= size(ROOM.memory)

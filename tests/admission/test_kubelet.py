"""What machines give to pods is what the kubelet's own code gives, pod by pod in the order in which they come.

It is asked where TRAINYARD_KUBELET_ORACLE names a program that answers for it.
"""

from __future__ import annotations

import random

import pytest

from conftest import ROOT
from kubelet.minors import asked, program
from trainyard.judge.admission.asks import asks
from trainyard.judge.admission.before import Queue
from trainyard.judge.admission.cluster_jobs import Crowd
from trainyard.judge.admission.site import admits, site
from trainyard.judge.preflight import check_repository
from trainyard.render.sizing.starts import document, node, present
from trainyard.upstream.kubelet.answers import container_answer
from trainyard.upstream.kubelet.releases import RELEASE
from trainyard.upstream.scheduler import Host, Nodes, Placed, State, Wanted

POOLS = (("atlas", "h100"), ("atlas", "a100-parts"), ("borealis", "a100"), ("borealis", "mi300x"), ("zephyr", "gb200"))
PODS = 14


@pytest.fixture(scope="module")
def oracle():
    """The answers to cases of nodes."""
    program(RELEASE)

    def answers(cases):
        return [found["pods"] for found in asked(cases)]

    return answers


def arrived(cluster, pool, pods):
    """A node of a pool with its daemons, and pods that come one after the other; how many the daemons are."""
    first = present(cluster, pool)
    named = [{**pod.manifest, "metadata": {"name": f"pod-{index}"}} for index, pod in enumerate(pods)]
    return document(cluster, pool, [*first, *named]), len(first)


@pytest.mark.slow
def test_all_jobs_of_the_repository_get_what_the_kubelet_gives(oracle):
    """On every host, with all jobs of its cluster there."""
    specs = check_repository(ROOT)
    cases, expected = [], []
    for name, cluster in specs.specs.clusters.items():
        if not admits(cluster):
            continue
        where = site(specs.specs, name)
        there = [item for item in asks(specs, {name: where}, [name]) if not (item.why or item.later)]
        crowd = Crowd.of(where, Queue(there))
        placed = [one for fit in crowd.fits.values() for _, one in fit.placed]
        for host in crowd.full.nodes.hosts.values():
            case, count = arrived(cluster, where.pool_of(host.name), host.pods)
            cases.append(case)
            expected.append(
                (count, [list(map(container_answer, one.containers)) for one in placed if one.host == host.name])
            )
    for pods, (count, mine) in zip(oracle(cases), expected, strict=True):
        assert [(pod["outcome"], pod["containers"]) for pod in pods[count:]] == [("admitted", item) for item in mine]
    assert sum(len(mine) for _, mine in expected) > 100


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(10), range(10, 20)], ids=str)
def test_drawn_pods_find_a_node_where_the_kubelet_takes_them(oracle, seeds):
    """Pods of any size on a node that fills up: placed are those that it admits, with the same CPUs and devices."""
    clusters = check_repository(ROOT).specs.clusters
    cases, expected = [], []
    for seed, (name, pool) in ((seed, one_pool) for seed in seeds for one_pool in POOLS):
        dice, empty = random.Random(f"{seed} {pool}"), node(clusters[name], pool).kubelet
        nodes, pods = Nodes([Host("n", {}, (), State(empty.copy()))]), list(drawn(dice, empty))
        case, count = arrived(clusters[name], pool, pods)
        cases.append(case)
        expected.append((count, [nodes.place(pod) for pod in pods]))
    refused = 0
    for pods, (count, mine) in zip(oracle(cases), expected, strict=True):
        for said, found in zip(pods[count:], mine, strict=True):
            fits = said["outcome"] == "admitted" and not said.get("unschedulable")
            assert fits == isinstance(found, Placed), (said, found)
            assert not fits or list(map(container_answer, found.containers)) == said["containers"]
            refused += not fits and not said.get("unschedulable")
    assert refused > 5


def drawn(dice, kubelet):
    """Pods with some of the devices of a node, and CPUs and memory that may not go with these."""
    offers = {
        name: len(one_device) for name, one_device in kubelet.machine.devices.items() if "gpu" in name or "mig" in name
    }
    for _ in range(PODS):
        device = dice.choice(sorted(offers))
        limits = {"cpu": str(dice.choice([1, 2, 8, 20, 26, 60])), "memory": f"{dice.choice([1, 50, 240, 700])}Gi"}
        limits[device] = str(dice.randint(1, max(1, offers[device] // 2)))
        yield Wanted({"containers": [{"name": "c", "resources": {"limits": limits}}]})

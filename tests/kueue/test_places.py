"""Places are those that Kueue's own code gave: recorded answers to cases by chance, and what holds of every place."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections import Counter

import pytest

from conftest import ROOT
from kueue.losing import answer as moved
from kueue.losing import losing
from kueue.losing import told as told_of_loss
from kueue.oracle import asked as oracle_asked
from kueue.oracle import kueue
from kueue.placing import ASKED, HOSTNAME, answer, asked, of_kind, places, workloads
from kueue.topologies import case
from trainyard.upstream.kueue.model.placements import PlacedPods, Placement
from trainyard.upstream.kueue.topology import Crash
from trainyard.upstream.kueue.topology.room import with_place

RECORDED = ROOT / "tests/kueue/placed.jsonl.gz"
SEEDS = range(900)
"""The cases whose answers are recorded; more are asked where the program is there."""

LOST = ROOT / "tests/kueue/lost.jsonl.gz"
LOSSES = range(400)
"""The cases of failed nodes whose answers are recorded."""


def digest(seed):
    """What tells the case of a seed from every other."""
    return hashlib.sha256(json.dumps(case(seed), sort_keys=True).encode()).hexdigest()[:12]


def told(found):
    """Return what the scheduler answered, in the words of `answer`."""
    if "error" in found:
        assert "divide by zero" in found["error"], found
        return {"crash": True}
    assert not found.get("invalid"), found
    said = found["workloads"]["default/asked"]["nomination"]
    if said["mode"] != "Fit":
        return {"mode": said["mode"], "message": said["message"]}
    placed = {pod_set["name"]: pod_set["topology"] for pod_set in said["podSets"] if "topology" in pod_set}
    whole = {name: {**value, "domains": value["domains"] or []} for name, value in placed.items()}
    return {"mode": "Fit", "places": whole}


def same(ours, theirs):
    """Whether both say the same: mode and places, or mode and reason."""
    ours = dict(ours)
    reason = ours.pop("reason", "")
    return ours == {name: value for name, value in theirs.items() if name != "message"} and reason in theirs.get(
        "message", ""
    )


def test_places_are_those_of_kueue():
    """Recorded answers of Kueue's scheduler to cases by chance are ours: mode, every place, every reason."""
    recorded = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]
    assert len(recorded) == len(SEEDS)
    modes = Counter(item["answer"].get("mode", "crash") for item in recorded)
    assert min(modes[mode] for mode in ("Fit", "NoFit", "Preempt")) >= 30, modes
    for item in recorded:
        assert digest(item["seed"]) == item["case"], "the cases are drawn otherwise; record them again"
        ours = answer(case(item["seed"]))
        assert same(ours, item["answer"]), (item["seed"], ours, item["answer"])


def test_pods_of_a_failed_node_go_where_kueue_puts_them():
    """Recorded answers of Kueue to failed nodes are ours: where the pods go, or that the Workload is evicted."""
    recorded = [json.loads(line) for line in gzip.decompress(LOST.read_bytes()).splitlines()]
    evicted = sum("evicted" in item["answer"] for item in recorded)
    assert len(recorded) >= 120
    assert 20 <= evicted <= len(recorded) - 80
    for item in recorded:
        lost = losing(item["seed"])
        assert lost is not None
        assert moved(lost) == item["answer"], item["seed"]


@pytest.mark.slow
def test_kueue_replaces_nodes_as_we_do(request):
    """Asked again about many more failed nodes, Kueue moves or evicts pods as we do."""
    program = kueue("failed nodes by Kueue's own scheduler")
    cases = {seed: lost for seed in range(5 * len(LOSSES)) if (lost := losing(seed)) is not None}
    answers = oracle_asked(program, "schedule", [lost.case for lost in cases.values()])
    found = dict(zip(cases, map(told_of_loss, answers), strict=True))
    wrong = {seed: (ours, value) for seed, value in found.items() if (ours := moved(cases[seed])) != value}
    assert not wrong, wrong
    if request.config.getoption("--update"):
        lines = [json.dumps({"seed": seed, "answer": found[seed]}) for seed in LOSSES if seed in found]
        LOST.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


@pytest.mark.slow
def test_kueue_places_as_we_do(request):
    """Asked again about many more cases, Kueue's scheduler gives the places that we give."""
    program = kueue("places by Kueue's own scheduler")
    seeds = range(10 * len(SEEDS))
    found = dict(
        zip(seeds, oracle_asked(program, "schedule", [case(seed) for seed in seeds], faults=True), strict=True)
    )
    wrong = {seed: (answer(case(seed)), told(value)) for seed, value in found.items()}
    wrong = {seed: pair for seed, pair in wrong.items() if not same(*pair)}
    assert not wrong, wrong
    if request.config.getoption("--update"):
        lines = [json.dumps({"seed": seed, "case": digest(seed), "answer": told(found[seed])}) for seed in SEEDS]
        RECORDED.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


def drawn(start, count):
    """Cases by chance with the places in them, and what is asked."""
    for seed in range(start, start + count):
        one = case(seed)
        yield one, places(one), asked(workloads(one)[ASKED])


def placed(found, requests, **options):
    """The places of all pod sets, None where one has none."""
    try:
        result = found.find(requests, **options)
    except Crash:
        return None
    return result if all(isinstance(item, Placement) for item in result.values()) else None


def test_every_pod_has_a_place_and_no_node_too_many():
    """Pods of whole slices all have a place, no domain gets more than it has left, and required means one domain."""
    fits = 0
    for _, found, requests in drawn(20_000, 250):
        result = placed(found, requests)
        if result is None:
            continue
        fits += 1
        used = {}
        for request in requests:
            place, topology = result[request.pod_set.name], request.pod_set.topology
            size = 1
            if topology is not None:
                size = topology.slices[0].size if topology.slices else topology.slice_size or 1
            assert sum(domain.count for domain in place.domains) == request.count // size * size
            assert all(domain.count > 0 for domain in place.domains)
            for domain in place.domains:
                there = used.setdefault(domain.values, Counter())
                for name, amount in with_place(request.pod).items():
                    there[name] += amount * domain.count
            if topology is not None and topology.required is not None:
                level = found.levels.index(topology.required)
                leaves = [found.tree.place[domain.values] for domain in place.domains]
                assert len({found.tree.above(leaf, level) for leaf in leaves}) <= 1
        for values, amounts in used.items():
            left = found.room.states[found.room.left[found.tree.place[values] - found.tree.leaves.start]]
            for name, amount in amounts.items():
                assert not amount or amount <= left[found.room.index[name]], (values, name)
    assert fits >= 80


def test_three_pod_sets_in_a_group_crash_kueue():
    """A group of three pod sets that fits has places for two of them, and Kueue's scheduler ends on the third."""
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": 1}}}]}}
    request = {"required": HOSTNAME, "podSetGroupName": "g"}
    sets = [{"name": name, "count": 1, "topologyRequest": request, "template": template} for name in "abc"]
    node = {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": 4}}}
    objects = [
        {"kind": "Topology", "metadata": {"name": "dc"}, "spec": {"levels": [{"nodeLabel": HOSTNAME}]}},
        {"kind": "ResourceFlavor", "metadata": {"name": "tas"}, "spec": {"topologyName": "dc"}},
        node,
    ]
    for count, outcome in ((1, "Fit"), (2, "Fit"), (3, None)):
        value = {"kind": "Workload", "metadata": {"name": ASKED}, "spec": {"podSets": sets[:count]}}
        assert answer({"objects": [*objects, value]}).get("mode") == outcome


def test_usage_that_is_given_back_leaves_no_trace():
    """Pods that were added and removed, in whatever order, change no answer; asking changes none either."""
    chance = random.Random(7)
    for _, found, requests in drawn(30_000, 60):
        before, state = placed(found, requests), list(found.room.left)
        values = list(found.tree.place) or [("gone",)]
        used = [PlacedPods(chance.choice(values), {"cpu": 700, "memory": 3}, chance.randint(1, 4)) for _ in range(6)]
        for item in used:
            found.add(item)
        for item in sorted(used, key=lambda _: chance.random()):
            found.remove(item)
        assert found.room.left == state
        assert placed(found, requests) == before


def test_what_is_kept_between_requests_changes_no_answer():
    """After pods came and went, a request that was asked before has the answer that new places would give."""
    chance = random.Random(11)
    renewed = 0
    for one, found, requests in drawn(60_000, 120):
        used = []
        values = [*found.tree.place] or [("gone",)]
        for _ in range(4):
            result = placed(found, requests)
            new = places(one)
            for item in used:
                new.add(item)
            assert placed(new, requests) == result
            assert placed(new, requests, empty=True) == placed(found, requests, empty=True)
            renewed += len(found.room.changes) > 0
            if used and chance.random() < 0.4:
                found.remove(used.pop(chance.randrange(len(used))))
            used.append(PlacedPods(chance.choice(values), {"cpu": 500, "example.com/gpu": 1}, chance.randint(1, 3)))
            found.add(used[-1])
    assert renewed >= 100


def test_more_nodes_take_no_place_away():
    """A pod set that fits as it is required still fits when a node is added."""
    fits = 0
    for one, found, requests in drawn(40_000, 250):
        topology = requests[0].pod_set.topology if len(requests) == 1 else None
        if topology is None or topology.required is None or placed(found, requests) is None:
            continue
        fits += 1
        nodes = of_kind(one, "Node")
        twin = json.loads(json.dumps(nodes[0]))
        twin["metadata"]["name"] = "more"
        assert placed(places({**one, "objects": [*one["objects"], twin]}), requests) is not None
    assert fits >= 10


def test_names_do_not_decide():
    """With other names of nodes and domains, in the same order, the same pods fit in the places that are renamed."""
    for one, found, requests in drawn(50_000, 80):
        renamed = json.loads(json.dumps(one))
        for node in of_kind(renamed, "Node"):
            labels = node["metadata"]["labels"]
            node["metadata"]["name"] = f"x{node['metadata']['name']}"
            for level in found.levels:
                if level in labels and level != HOSTNAME:
                    labels[level] = f"x{labels[level]}"
        for pod in of_kind(renamed, "Pod"):
            pod["spec"]["nodeName"] = f"x{pod['spec']['nodeName']}"
        for held in renamed["admitted"]:
            for domain in held["domains"]:
                domain["values"] = [f"x{value}" for value in domain["values"]]
        if "metadata.name" in json.dumps(one):
            continue
        result, other = placed(found, requests), placed(places(renamed), requests)
        assert (result is None) == (other is None)
        for name in result or ():
            here = [(tuple(f"x{value}" for value in domain.values), domain.count) for domain in result[name].domains]
            assert here == [(domain.values, domain.count) for domain in other[name].domains]

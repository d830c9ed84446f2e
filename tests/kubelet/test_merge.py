"""The merge of hints: the best of all combinations, found without trying them."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest

from example_counts import tries
from trainyard.upstream.kubelet import Machine, NumaNode
from trainyard.upstream.kubelet.hints import Affinity, Hints
from trainyard.upstream.kubelet.merge import Merger
from trainyard.upstream.kubelet.outcomes import Panic
from trainyard.upstream.kubelet.settings import Settings
from trainyard.upstream.kubelet.walk import walk

POLICIES = ("best-effort", "restricted", "single-numa-node")


def merger(distances, policy="best-effort", *, closest=False, ids=None):
    """A merger on a machine of NUMA nodes without CPUs at such distances."""
    nodes = tuple(
        NumaNode(ids[row] if ids else row, 0, distances=tuple(distance)) for row, distance in enumerate(distances)
    )
    return Merger(Machine(nodes, ()), Settings(topology_policy=policy, prefer_closest=closest))


def far(nodes):
    """A matrix of distances in which all nodes are equally far from one another."""
    return [[10 if one == other else 20 for other in range(nodes)] for one in range(nodes)]


def walked(merging, opinions):
    """What comes of all combinations tried one by one, each compared with the best so far, and how many there are."""
    single = merging.settings.topology_policy == "single-numa-node"
    everywhere = merging.machine.numa_nodes
    lists = []
    for hints in opinions:
        if hints is None:
            lists.append([(None, True)])
        else:
            value = [*((mask, True) for mask in hints.preferred), *((mask, False) for mask in hints.other)]
            lists.append(value or [(None, False)])
    if single:
        lists = [
            [(mask, good) for mask, good in sequence if good and (mask is None or mask.bit_count() == 1)]
            for sequence in lists
        ]
    wanted = max(
        (min((mask.bit_count() for mask, _ in sequence if mask is not None), default=0) for sequence in lists),
        default=0,
    )
    best, count = None, 0
    for combination in product(*lists):
        count += 1
        masks = [mask for mask, _ in combination if mask is not None]
        both = everywhere
        for mask in masks:
            both &= mask
        good = all(good for _, good in combination) and len(set(masks)) <= 1
        if both and (best is None or _better((both, good), best, wanted, merging)):
            best = (both, good)
    nodes, good = best or (everywhere, False)
    return Affinity(None if single and nodes == everywhere else nodes, good), count


def _better(candidate, current, wanted, merging):
    """Say whether a combination's result takes the place of the best so far."""
    if candidate[1] != current[1]:
        return candidate[1]
    size, held = candidate[0].bit_count(), current[0].bit_count()
    if not candidate[1] and size != held:
        if held > wanted:
            return size < held
        return held < size <= wanted
    if size != held:
        return size < held
    closest = merging.settings.prefer_closest and merging.settings.topology_policy != "single-numa-node"
    if closest and _mean(candidate[0], merging) != _mean(current[0], merging):
        return _mean(candidate[0], merging) < _mean(current[0], merging)
    return candidate[0] < current[0]


def _mean(mask, merging):
    ids = [node.id for node in merging.machine.numa if mask >> node.id & 1]
    return sum(merging.machine.numa[one].distances[other] for one in ids for other in ids) / len(ids) ** 2


def opinions_by_chance(chance, nodes):
    """Hints of a few resources: any sets, some of them preferred, some resources without an opinion or a place."""
    every = range(1, 1 << nodes)
    for _ in range(chance.randint(1, 4)):
        kind = chance.random()
        if kind < 0.1:
            yield None
            continue
        found = [] if kind < 0.15 else chance.sample(every, chance.randint(1, min(len(every), 7)))
        cut = chance.randint(0, len(found))
        yield Hints(tuple(found[:cut]), tuple(found[cut:]))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("closest", [False, True], ids=["narrowest", "closest"])
def test_the_merge_is_that_of_the_walk_through_all_combinations(policy, closest):
    """Affinity, preference and number of combinations are those of trying all; a refusal's nodes do not matter."""
    chance = random.Random(f"{policy} {closest}")
    preferred = 0
    for _ in range(tries(1500)):
        nodes = chance.randint(1, 4)
        distances = [[chance.choice((10, 12, 21, 32)) for _ in range(nodes)] for _ in range(nodes)]
        merging = merger(distances, policy, closest=closest)
        opinions = list(opinions_by_chance(chance, nodes))
        wanted, count = walked(merging, opinions)
        assert merging.permutations(opinions) == count
        got = merging.merge(opinions)
        assert got.preferred == wanted.preferred, opinions
        if got.preferred or not merging.strict:
            assert got == wanted, opinions
        preferred += got.preferred
    assert preferred


def test_a_compromise_has_as_many_nodes_as_the_most_demanding_resource():
    """Where resources do not agree, one node is too few if another resource needs two, and three are too many."""
    two = Hints((0b0011, 0b1100), (0b0111, 0b1111))
    one = Hints((0b0001,), (0b0011, 0b0101, 0b0111))
    assert merger(far(4)).merge([two, one]) == Affinity(0b0011, preferred=False)
    assert merger(far(4)).merge([replace(two, preferred=(0b1100,)), one]) == Affinity(0b0011, preferred=False)
    assert merger(far(4)).merge([Hints((0b1100,)), one]) == Affinity(0b0100, preferred=False)


def test_a_merge_of_more_combinations_than_could_be_tried_is_quick():
    """On eight NUMA nodes nine resources make 10^21 combinations; best-effort still has its answer."""
    every = Hints(tuple(range(1, 256)))
    demanding = Hints((), tuple(mask for mask in range(1, 256) if mask.bit_count() >= 5))
    merging = merger(far(8))
    assert merging.permutations([every] * 8 + [demanding]) == 255**8 * 93
    assert merging.merge([every] * 8 + [demanding]) == Affinity(0b11111, preferred=False)


@pytest.mark.parametrize("policy", ["best-effort", "restricted"])
def test_nodes_that_are_not_numbered_through_have_no_distances(policy):
    """A kubelet that prefers close nodes panics where ids go beyond its list of distances, whatever the policy says."""
    merging = merger([[10, 20], [20, 10]], policy, closest=True, ids=[0, 8])
    either = Hints((1 << 0, 1 << 8), (1 << 0 | 1 << 8,))
    with pytest.raises(Panic, match=r"index out of range \[8\] with length 2"):
        merging.merge([either, either])
    both = Hints((1 << 0 | 1 << 8,))
    with pytest.raises(Panic):
        merging.merge([either, both])
    assert merging.merge([either, Hints((1 << 0,))]) == Affinity(1 << 0, preferred=True)


@pytest.mark.parametrize("policy", ["best-effort", "restricted"])
def test_on_such_nodes_the_walk_ends_as_the_merge_would(policy):
    """Where distances reach far enough, the combinations tried one by one come to what the sets of masks say."""
    chance = random.Random(policy)
    for _ in range(tries(500)):
        nodes = chance.randint(1, 4)
        distances = [[chance.choice((10, 12, 21, 32)) for _ in range(nodes)] for _ in range(nodes)]
        merging = merger(distances, policy, closest=True)
        opinions = [hints for hints in opinions_by_chance(chance, nodes) if hints is not None]
        got = walk(opinions, merging.machine.numa_nodes, merging.closer)
        wanted, _ = walked(merging, opinions)
        assert got == wanted, opinions

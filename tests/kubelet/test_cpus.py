"""Which CPUs a container gets: packed, spread, whole cores; and what is known to go wrong in the kubelet itself."""

from __future__ import annotations

import pytest

from trainyard.upstream.kubelet import Cpu, Machine, NumaNode
from trainyard.upstream.kubelet.cpus import take
from trainyard.upstream.kubelet.outcomes import Explosion, Refusal
from trainyard.upstream.kubelet.sets import mask, text
from trainyard.upstream.kubelet.settings import CpuOptions

PACKED = CpuOptions()
EVENLY = CpuOptions(distribute_across_numa=True)
WHOLE_EVENLY = CpuOptions(distribute_across_numa=True, full_pcpus_only=True)


def machine(*cores, threads=1, sockets=2, cores_per_cache=None):
    """A machine with so many cores in each NUMA node, the threads of a core numbered one after the other."""
    cpus = []
    core = 0
    for node, count in enumerate(cores):
        socket = node * sockets // len(cores)
        for _ in range(count):
            cache = socket if cores_per_cache is None else core // cores_per_cache
            cpus.extend(Cpu(core * threads + thread, core * threads, socket, node, cache) for thread in range(threads))
            core += 1
    return Machine(tuple(NumaNode(node, 0) for node in range(len(cores))), tuple(cpus))


TAKEN = {
    "whole sockets come before NUMA nodes": (machine(4, 4, 4, 4), {0}, 8, PACKED, "8-15"),
    "a fuller NUMA node comes before an empty one": (machine(4, 4), {4}, 2, PACKED, "5-6"),
    "whole cores come before the free thread of a broken one": (
        machine(4, threads=2, sockets=1),
        {0},
        2,
        PACKED,
        "2-3",
    ),
    "an odd CPU comes from a core that is broken already": (machine(4, threads=2, sockets=1), {0}, 3, PACKED, "1-3"),
    "siblings come last where CPUs are spread over cores": (
        Machine((NumaNode(0, 0),), tuple(Cpu(cpu, cpu % 4, 0, 0, 0) for cpu in range(8))),
        set(),
        4,
        CpuOptions(distribute_across_cores=True),
        "0-3",
    ),
    "a cache that holds all of it comes before cores of two": (
        machine(8, sockets=1, cores_per_cache=4),
        {0, 1},
        3,
        CpuOptions(prefer_align_by_cache=True),
        "4-6",
    ),
    "two NUMA nodes give the same where one is too small": (machine(4, 4), {0}, 6, EVENLY, "1-3,4-6"),
    "one NUMA node gives all where it can": (machine(4, 4), {0}, 4, EVENLY, "4-7"),
    "cores stay whole where NUMA nodes give the same": (machine(2, 2, threads=2), set(), 6, WHOLE_EVENLY, "0-5"),
    "too few even for that are packed": (machine(1, 4, 4), {1, 2, 3}, 6, EVENLY, "0,4-8"),
}


@pytest.mark.parametrize("sentence", TAKEN)
def test_cpus_are_taken(sentence):
    """Each sentence holds."""
    where, used, count, options, expected = TAKEN[sentence]
    taken = take(where, where.all_cpus & ~mask(used), count, options)
    assert taken == mask(number for part in expected.split(",") for number in _range(part))


def _range(part):
    low, _, high = part.partition("-")
    return range(int(low), int(high or low) + 1)


def test_too_many_cpus_are_refused_in_the_kubelets_words():
    """More CPUs than are free are refused, whichever way they are taken."""
    for options in (PACKED, EVENLY):
        with pytest.raises(Refusal, match="not enough cpus available to satisfy request: requested=4, available=3"):
            take(machine(2, 2), mask([1, 2, 3]), 4, options)


def test_the_last_node_of_an_even_split_is_one_of_a_later_combination():
    """Of six nodes 1 to 4 were found to split seven CPUs best, and the last gives way to 5 (so does kubelet 1.35.4)."""
    where = machine(2, 2, 2, 2, 2, 2)
    assert text(take(where, where.all_cpus & ~1, 7, EVENLY)) == "2-7,10"


def test_a_socket_larger_than_the_average_is_taken_with_what_is_not_free():
    """Sockets of ten and six CPUs: eight free ones look like a whole socket, and reserved CPUs go along."""
    where = machine(5, 5, 3, 3)
    assert text(take(where, where.all_cpus & ~0b11, 10, PACKED)) == "0-9"


def test_whole_cores_are_sought_for_ever_where_threads_are_reserved():
    """With a thread of each node reserved the rest of an even split has no whole core, and the kubelet never stops."""
    where = machine(8, 8, 8, 8, threads=2)
    with pytest.raises(Explosion) as found:
        take(where, where.all_cpus & ~mask([0, 16, 32, 48]), 54, WHOLE_EVENLY)
    assert found.value.outcome.endless

"""A cluster that is asked again and again answers each time as if it had never been asked before."""

from __future__ import annotations

import random

import pytest

from kueue.worlds import case
from trainyard.upstream.kueue.replay import Prepared, replay


def split(seed):
    """The cluster of a seed, its Workloads, and what some of these hold."""
    one = case(seed)
    base = [item for item in one["objects"] if item["kind"] != "Workload"]
    work = [item for item in one["objects"] if item["kind"] == "Workload"]
    return {**one, "objects": base, "admitted": []}, work, one.get("admitted", [])


def name(workload):
    """What a Workload is called in lists of those that hold quota."""
    return f"{workload['metadata'].get('namespace', 'default')}/{workload['metadata']['name']}"


@pytest.mark.parametrize("seeds", [range(start, start + 6) for start in range(20_000, 20_024, 6)], ids=str)
def test_asking_leaves_no_trace(seeds):
    """Whatever was asked before, the answer is the one to the whole case."""
    for seed in seeds:
        base, work, held = split(seed)
        dice, prepared = random.Random(seed), Prepared(base)
        for _ in range(4):
            some = dice.sample(work, dice.randint(1, len(work)))
            own = [item for item in held if full(item["workload"]) in set(map(name, some))]
            whole = replay({**base, "objects": [*base["objects"], *some], "admitted": own})
            assert prepared.decided(some, own) == whole, seed


def full(text):
    """A name with its namespace."""
    return text if "/" in text else f"default/{text}"


def test_those_that_stand_beside_hold_what_they_hold():
    """Others are answered as in the case that has both, where nobody of these is ended."""
    compared = 0
    for seed in range(21_000, 21_080):
        base, work, held = split(seed)
        names = {full(item["workload"]) for item in held}
        standing, others = ([item for item in work if (name(item) in names) == there] for there in (True, False))
        whole = replay({**base, "objects": [*base["objects"], *standing, *others], "admitted": held})
        if base["mode"] != "settle" or not standing or not others or "error" in whole or whole.get("invalid"):
            continue
        if any(whole["workloads"][key].get("evictions") for key in names):
            continue
        prepared = Prepared(base)
        plain = prepared.decided(others)
        with prepared.beside(standing, held):
            for _ in range(2):
                answer = prepared.decided(others)
                assert answer["workloads"] == {key: whole["workloads"][key] for key in answer["workloads"]}, seed
        assert prepared.decided(others) == plain, seed
        compared += 1
    assert compared >= 8

"""The kubelet's configuration adds up, so that the kubelet starts."""

from __future__ import annotations

from typing import Any

import pytest

from everything import AMD_NODE, KUBELET, everything
from make import CPU_NODE, fields, make_pool
from trainyard.base.quantities import Quantity
from trainyard.render.sizing.kubelet import configuration
from trainyard.render.sizing.node import cpu_set
from trainyard.specs.shapes import names
from trainyard.upstream.kubelet.sets import mask, text

THREE_NUMA_NODES = fields(
    CPU_NODE,
    {
        "numa": [{"cpus": f"{node * 5}-{node * 5 + 4}", "memory": "20Gi"} for node in range(3)],
        "reserved": {"cpus": 1, "memory": "1000M"},
    },
)
SHAPES: dict[str, Any] = {name: name for name in names()} | {"AMD": AMD_NODE, "three NUMA nodes": THREE_NUMA_NODES}


def amount(text: str) -> int:
    """Return a quantity in bytes."""
    return Quantity.parse(text).value()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_memory_kept_on_numa_nodes_is_what_is_kept_in_all(shape):
    """The memory manager wants the sum over NUMA nodes to be system, kubelet and eviction together, to the byte."""
    pool = make_pool(shape=shape, kubelet=KUBELET)
    assert pool.kubelet is not None
    fields = configuration(pool, pool.kubelet)
    kept = amount(fields["systemReserved"]["memory"]) + amount(fields["evictionHard"].get("memory.available", "0"))
    spread = [amount(part["limits"]["memory"]) for part in fields["reservedMemory"]]
    assert sum(spread) == kept == amount(pool.node.reserved.memory)
    assert max(spread) - min(spread) < max(1, len(spread))


def test_settings_are_passed_on_as_they_are():
    """Policies, scope, options and CPUs of the pool stand in the configuration."""
    pool = everything().pools["h100"]
    assert pool.kubelet is not None
    fields = configuration(pool, pool.kubelet)
    assert fields["reservedSystemCPUs"] == "0-1,56-57,112-113,168-169"
    assert {name: fields[name] for name in KUBELET} == KUBELET
    assert fields["maxPods"] == 110


def test_without_a_memory_manager_nothing_is_kept_per_numa_node():
    """The kubelet refuses memory reserved per NUMA node for a manager that is off."""
    pool = make_pool(kubelet={"cpuManagerPolicy": "static"})
    assert pool.kubelet is not None
    assert "reservedMemory" not in configuration(pool, pool.kubelet)


def test_cpus_are_written_as_ranges():
    """A list of CPUs reads back as the same CPUs."""
    assert text(mask({9, 0, 1, 2, 4})) == "0-2,4,9"
    assert cpu_set(text(mask(range(5, 64)))) == frozenset(range(5, 64))

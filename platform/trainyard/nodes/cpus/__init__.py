"""The CPU manager with its static policy: which CPUs a container gets alone (cm/cpumanager, 1.35.4)."""

from trainyard.nodes.cpus.distributed import take_distributed
from trainyard.nodes.cpus.packed import take_packed
from trainyard.nodes.machine import Machine
from trainyard.nodes.settings import CpuOptions


def take(machine: Machine, available: int, count: int, options: CpuOptions) -> int:
    """Return so many of the available CPUs under the options.

    Raises Refusal where they cannot be had, and Explosion where the kubelet would look for them for ever.
    """
    taking = take_distributed if options.distribute_across_numa else take_packed
    return taking(machine, available, count, options)

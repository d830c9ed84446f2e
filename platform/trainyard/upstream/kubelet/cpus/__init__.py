"""The CPU manager with its static policy: which CPUs a container gets alone (cm/cpumanager, 1.35.4)."""

from trainyard.upstream.kubelet.cpus.distributed import take_distributed
from trainyard.upstream.kubelet.cpus.packed import take_packed
from trainyard.upstream.kubelet.machine import Machine
from trainyard.upstream.kubelet.settings import CpuOptions


def take(machine: Machine, available: int, count: int, options: CpuOptions) -> int:
    """Return so many of the available CPUs under the options.

    Raises Refusal where they cannot be had, and Explosion where the kubelet would look for them for ever.
    """
    taking = take_distributed if options.distribute_across_numa else take_packed
    return taking(machine, available, count, options)

"""What a started kubelet holds to: the values of its configuration that decide what a pod gets."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CpuOptions:
    """The options of the static CPU policy (`cpuManagerPolicyOptions`); all off is the kubelet's default.

    With `spread_in_sockets`, as from 1.37 on, CPUs that are spread over NUMA nodes keep to a socket if aligned by it.
    """

    full_pcpus_only: bool = False
    distribute_across_numa: bool = False
    distribute_across_cores: bool = False
    align_by_socket: bool = False
    strict_reservation: bool = False
    prefer_align_by_cache: bool = False
    spread_in_sockets: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """A kubelet's settings after its start has checked them against the machine.

    `reserved_cpus` is the set of CPUs that no container gets alone (empty where `static_cpus` is off).
    With `narrow_hints` devices have hints of the NUMA nodes alone where one of them sits.
    With `whole_pods` pods with resources of their own get them as a whole. With `skips_empty`, as from 1.37 on, the
    memory manager leaves containers alone that ask for no memory.
    `reserved_memory` is in bytes by NUMA node and resource (`memory`, `hugepages-1Gi`).
    """

    topology_policy: str = "none"
    pod_scope: bool = False
    prefer_closest: bool = False
    static_cpus: bool = False
    cpu_options: CpuOptions = CpuOptions()
    reserved_cpus: int = 0
    static_memory: bool = False
    narrow_hints: bool = False
    whole_pods: bool = False
    skips_empty: bool = False
    reserved_memory: Mapping[int, Mapping[str, int]] = field(default_factory=dict)

"""Where pods stand: topology-aware scheduling as Kueue does it.

A function of the topology, what its nodes have left, and requests: it answers with domains, or Kueue's reason.

Left out are elastic slices of Workloads (ElasticJobsViaWorkloadSlicesWithTAS) and the scheduler's library, both off
unless a gate says otherwise. Preferred affinity (TASRespectNodeAffinityPreferred, off) counts each time; Kueue 0.19.2
forgets it for a pod set that it has looked at before in the same cycle.
"""

from trainyard.upstream.kueue.topology.balanced import Crash
from trainyard.upstream.kueue.topology.places import Places
from trainyard.upstream.kueue.topology.replacement import Loss

__all__ = ["Crash", "Loss", "Places"]

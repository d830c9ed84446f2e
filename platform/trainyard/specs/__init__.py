"""What people write: models of jobs, clusters, teams and the repository, closed to unknown fields."""

from trainyard.specs.base import JOB_NAME, Spec
from trainyard.specs.cluster import Cluster, Fabric, Kubelet, OperatorChoice, Pool, Queue, Quota, Storage
from trainyard.specs.job import Checkpoint, Dataset, File, Job, Patch, Role, Topology
from trainyard.specs.repository import Repository
from trainyard.specs.team import Team, Volume

__all__ = [
    "JOB_NAME",
    "Checkpoint",
    "Cluster",
    "Dataset",
    "Fabric",
    "File",
    "Job",
    "Kubelet",
    "OperatorChoice",
    "Patch",
    "Pool",
    "Queue",
    "Quota",
    "Repository",
    "Role",
    "Spec",
    "Storage",
    "Team",
    "Topology",
    "Volume",
]

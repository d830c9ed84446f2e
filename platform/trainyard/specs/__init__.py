"""What people write: models of jobs, clusters, teams and the repository, closed to unknown fields."""

from trainyard.specs.models.base import JOB_NAME, Spec
from trainyard.specs.models.cluster import Cluster, OperatorChoice
from trainyard.specs.models.fabric import Fabric
from trainyard.specs.models.job import Checkpoint, Dataset, File, Job, Patch, Topology
from trainyard.specs.models.pools import Kubelet, Pool
from trainyard.specs.models.queues import Queue, Quota, Scheduler
from trainyard.specs.models.repository import Repository
from trainyard.specs.models.roles import Array, Role
from trainyard.specs.models.storage import Storage
from trainyard.specs.models.team import Team, Volume

__all__ = [
    "JOB_NAME",
    "Array",
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
    "Scheduler",
    "Spec",
    "Storage",
    "Team",
    "Topology",
    "Volume",
]

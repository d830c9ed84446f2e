"""What Volcano's kinds have in common: tasks, each with its pods (volcano v1.14.1)."""

from __future__ import annotations

from trainyard.base.manifests import ANY
from trainyard.upstream.workloads.base import Template, by_field, replicas
from trainyard.upstream.workloads.variables import Variables

GROUP = "batch.volcano.sh"
LISTS = {"tasks": ("name",)}
VOLUMES = ("-svc", "-ssh")
"""How volumes of the plugins svc and ssh end (pkg/controllers/job/plugins)."""

VARIABLES = Variables(
    frozenset({"VC_TASK_INDEX", "VK_TASK_INDEX"}),
    others=r"V[CK]_\w+|MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK|TF_CONFIG|MPI_HOST",
)
"""The index by the plugin env, under both of its names; others by the plugins svc, pytorch, tensorflow and mpi."""


def tasks(*path: str) -> Template:
    """Return where the tasks of Volcano's kinds have their pods."""
    return Template((*path, "tasks", ANY), name=by_field("name"), count=replicas)

"""Jobs by chance on our own clusters: their size, their queue, their place; whatever they name is there."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from make import IMAGE, make_source
from trainyard.specs import Cluster, Job, Team
from trainyard.specs.sources import JobFile

LAUNCHERS = ("torchrun", "torchrun", "python", "mpirun", "tensorflow")
SIDECAR = {
    "name": "sidecar",
    "image": IMAGE,
    "restartPolicy": "Always",
    "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
}


def jobs(name: str, cluster: Cluster, teams: dict[str, Team], *, seed: str, count: int) -> Iterator[JobFile]:
    """Yield jobs of a cluster; one seed draws the same jobs each time."""
    chance = random.Random(f"{seed} {name}")
    for index in range(count):
        queue = chance.choice(sorted(cluster.queues_of("kueue")))
        team = chance.choice(sorted(cluster.queues[queue].teams))
        fields = {"cluster": name, "queue": queue, "image": IMAGE, **drawn(chance, cluster, queue)}
        fields["priority"] = chance.choice(teams[team].priorities or sorted(cluster.priorities))
        source = make_source(f"jobs/{team}/drawn-{index}.yaml", fields)
        yield JobFile(team, f"drawn-{index}", Job.model_validate(fields), source)


def drawn(chance: random.Random, cluster: Cluster, queue: str) -> dict[str, Any]:
    """Return what a job asks for: often whole nodes and as many as there are, now and then one too many."""
    pool_name = chance.choice(sorted(cluster.queues[queue].nominal_quota))
    pool = cluster.pools[pool_name]
    gpus, nodes = pool.node.gpus.count if pool.node.gpus else 0, pool.nodes
    fields: dict[str, Any] = {
        "launcher": chance.choice(LAUNCHERS),
        "program": "train.py",
        "pool": pool_name,
        "nodes": chance.choice([1, 1, 2, 3, 4, nodes // 2 or 1, nodes, nodes + 1, chance.randint(1, nodes)]),
        "spot": pool.spot,
    }
    if gpus:
        fields["gpusPerNode"] = chance.choice([gpus, gpus, gpus, 1, 2, chance.randint(1, gpus)])
    if cluster.levels and chance.random() < 0.5:
        mode = chance.choice(["required", "preferred"])
        fields["topology"] = {mode: chance.choice(list(cluster.levels))}
    if fields["launcher"] == "tensorflow" and chance.random() < 0.5:
        fields["roles"] = {"chief": {"nodes": 1}}
    more = {
        "cpusPerNode": chance.randint(1, pool.node.cpus),
        "memoryPerNode": f"{chance.randint(1, 2000)}Gi",
        "scratch": {"size": chance.choice(["100Gi", "900Gi", "3Ti"])},
        "containers": [SIDECAR],
        **({"fabric": "tcp"} if cluster.fabric else {}),
    }
    return fields | {field: value for field, value in more.items() if chance.random() < 0.15}

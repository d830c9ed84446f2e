"""Writes a synthetic fleet: a repository with many jobs on several clusters, for benchmarks."""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLUSTER = (ROOT / "platform/clusters/atlas.yaml").read_text(encoding="utf-8")
TEAMS = tuple(f"team{number:02}" for number in range(20))

TEAM = """\
group: {name}-people
volumes:
  checkpoints: {{storage: shared, size: 50Ti}}
  data: {{storage: shared, size: 20Ti}}
secrets: [wandb]
"""

REPOSITORY = """\
live: {live}
repoURL: https://git.example.com/platform/fleet.git
registries: [registry.example.com]
"""

JOB = """\
# Job {number} of a synthetic fleet.
cluster: {cluster}
launcher: torchrun
kind: {kind}
image: registry.example.com/{team}/train@sha256:{image}
module: train.main
args: [--config, /etc/train/config.yaml, --seed, {number}]
pool: h100
nodes: {nodes}
gpusPerNode: 8
queue: research
priority: normal
fabric: {fabric}
env: {{DATASET: /data/tokens, STEPS: {number}}}
secrets: {{WANDB_API_KEY: wandb/api-key}}
data: [{{volume: data, mountPath: /data}}]
checkpoint: {{volume: checkpoints, everyMinutes: 20, size: 100Gi, keep: 3}}
maxHours: 72
"""

SIZES = (1, 2, 4, 8)

QUEUE = """\
  queue{number:02}:
    teams: [team{number:02}]
    cohort: part{part}
    nominalQuota: {{h100: {{gpus: {gpus}}}}}
    preemption: {preemption}
"""

RECLAIM = "reclaimWithinCohort: LowerPriority, withinClusterQueue: LowerPriority"
PREEMPTION = {
    "alike": "{reclaimWithinCohort: Any, withinClusterQueue: LowerPriority}",
    "priorities": f"{{{RECLAIM}, borrowWithinCohort: {{policy: LowerPriority}}}}",
    "fair": f"{{{RECLAIM}}}",
}
"""By crowd: whether the queues' own quota decides, the jobs' priorities too, or these and fair shares."""

PRIORITIES = ("low", "normal", "normal", "low", "high")

PARTS = 5
"""Cohorts below the one of a crowded cluster."""

NODES_OF_RACK = (16, 20, 10)
"""The first that divides the nodes counts."""

VLANS = "{ads: 401, nlp: 402, vision: 403}"


def write_fleet(root: Path, *, jobs: int, clusters: int = 10, live: bool = True) -> None:
    """Write specs of that many jobs, spread evenly over 20 teams and the clusters; the same on every call.

    A cluster admits four of the teams, and a team runs on several clusters.
    """
    names = [f"cluster{number:02}" for number in range(clusters)]
    (root / "platform/clusters").mkdir(parents=True)
    (root / "platform/teams").mkdir()
    put(root / "platform/repository.yaml", REPOSITORY.format(live=str(live).lower()))
    for position, name in enumerate(names):
        text = CLUSTER.replace("{name: atlas}", f"{{name: {name}}}")
        text = text.replace("teams: [nlp, vision]", f"teams: [{', '.join(admitted(position))}]")
        text = text.replace("teams: [ads]", f"teams: [{TEAMS[0]}]").replace(VLANS, vlans(position))
        text = text.replace("{nlp: nlp-pipelines}", f"{{{admitted(position)[0]}: fleet-pipelines}}")
        put(root / f"platform/clusters/{name}.yaml", text)
    for team in TEAMS:
        put(root / f"platform/teams/{team}.yaml", TEAM.format(name=team))
        (root / "jobs" / team).mkdir(parents=True)
    for number in range(jobs):
        position = number % clusters
        team = admitted(position)[number // clusters % 4]
        put(root / f"jobs/{team}/job-{number:05}.yaml", job(number, team, names[position]))


def write_crowd(root: Path, *, jobs: int, nodes: int, queues: int = 50, crowd: str = "alike") -> None:
    """Write specs of one cluster of many nodes, whose queues share a tree of cohorts of three levels, and of its jobs.

    Every queue has a team of its own and an equal part of the GPUs. Racks are required where priorities differ.
    """
    hard = crowd != "alike"
    racks = nodes // next(node for node in NODES_OF_RACK if nodes % node == 0)
    teams = [f"team{number:02}" for number in range(queues)]
    (root / "platform/clusters").mkdir(parents=True)
    (root / "platform/teams").mkdir()
    put(root / "platform/repository.yaml", REPOSITORY.format(live="false"))
    text = CLUSTER[: CLUSTER.index("queues:")]
    for before, after in {
        "nodes: 16\n    racks: 2": f"nodes: {nodes}\n    racks: {racks}",
        "  vlans: ": "  # ",
        "10.56.0.0/16": "10.16.0.0/13",
        "pods: 10.0.0.0/14": "pods: 172.16.0.0/12",
        "nodes: 10.8.0.0/20": "nodes: 10.8.0.0/19",
        "throughput: 80Gi": "throughput: 8000Gi",
        "{nlp: nlp-pipelines}": "{team00: fleet-pipelines}",
    }.items():
        text = text.replace(before, after)
    cohorts = "".join(f"  part{part}: {{parent: whole}}\n" for part in range(PARTS))
    share = nodes * 8 // queues
    queue = QUEUE + "    fairWeight: 1\n" if crowd == "fair" else QUEUE
    every = "".join(
        queue.format(number=number, part=number % PARTS, gpus=share, preemption=PREEMPTION[crowd])
        for number in range(queues)
    )
    put(root / "platform/clusters/crowd.yaml", f"{text}cohorts:\n  whole: {{}}\n{cohorts}queues:\n{every}")
    for name in teams:
        put(root / f"platform/teams/{name}.yaml", TEAM.format(name=name))
        (root / "jobs" / name).mkdir(parents=True)
    for number in range(jobs):
        team = teams[number % queues]
        level = "required" if hard or number % 3 else "preferred"
        text = job(number, team, "crowd").replace("queue: research", f"queue: queue{number % queues:02}")
        if hard:
            drawn = hashlib.sha256(f"priority {number}".encode()).digest()[0] % len(PRIORITIES)
            text = text.replace("priority: normal", f"priority: {PRIORITIES[drawn]}")
        put(root / f"jobs/{team}/job-{number:05}.yaml", f"{text}topology: {{{level}: rack}}\n")


def admitted(position: int) -> list[str]:
    """Return the teams of a cluster."""
    return [TEAMS[(2 * position + offset) % len(TEAMS)] for offset in range(4)]


def vlans(position: int) -> str:
    """Return the virtual networks of a cluster, one for each of its teams."""
    teams = sorted({TEAMS[0], *admitted(position)})
    return f"{{{', '.join(f'{team}: {401 + number}' for number, team in enumerate(teams))}}}"


def job(number: int, team: str, cluster: str) -> str:
    """Return one job's file."""
    nodes = SIZES[number % len(SIZES)]
    return JOB.format(
        number=number,
        team=team,
        cluster=cluster,
        kind=("JobSet", "Job")[number % 5 == 0],
        image=hashlib.sha256(str(number // 7).encode()).hexdigest(),
        nodes=nodes,
        fabric="rdma" if nodes > 1 else "tcp",
    )


def put(path: Path, text: str) -> None:
    """Write one file."""
    path.write_text(text, encoding="utf-8", newline="\n")

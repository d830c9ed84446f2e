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
        put(root / f"platform/clusters/{name}.yaml", text)
    for team in TEAMS:
        put(root / f"platform/teams/{team}.yaml", TEAM.format(name=team))
        (root / "jobs" / team).mkdir(parents=True)
    for number in range(jobs):
        position = number % clusters
        team = admitted(position)[number // clusters % 4]
        put(root / f"jobs/{team}/job-{number:05}.yaml", job(number, team, names[position]))


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

"""The clusters of this repository with their jobs, as they are and with small changes by chance."""

from __future__ import annotations

import copy
import random
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import ROOT
from trainyard.base.documents import dump, load
from trainyard.base.findings import Finding
from trainyard.judge.preflight import Checked, check_repository

CLUSTERS = (
    "atlas",
    "borealis",
    "campus",
    "cumulus",
    "garnet",
    "hydra",
    "kind",
    "nimbus",
    "strato",
    "tundra",
    "zephyr",
)
"""Those whose jobs are Kueue's and kube-scheduler's to place."""

NATIVE = "levante"
"""The one whose pods kube-scheduler binds in gangs, for which the control plane needs gates (docs/clusters.md)."""

TRIES = 20
"""How often a change is drawn anew that would be refused."""

SMALL = (
    "jobs/nlp/bert-pretrain",
    "jobs/nlp/dense-70b",
    "jobs/nlp/llama3-8b",
    "jobs/nlp/mistral-24b-chat",
    "jobs/nlp/mistral-24b-dpo",
    "jobs/vision/llava-13b",
)
STEPS = ("wiki-eval", "wiki-pretrain", "wiki-shards")
PREEMPTION = (
    None,
    {"withinClusterQueue": "LowerPriority"},
    {"withinClusterQueue": "LowerOrNewerEqualPriority"},
    {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
    {"reclaimWithinCohort": "LowerPriority"},
    {"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}},
)

Object = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A cluster and its jobs, as their files have them."""

    cluster: str
    fields: Object
    jobs: Mapping[str, Object]
    """By `<team>/<job>`."""

    def written(self, root: Path) -> Checked:
        """Write the repository in place of what is there, and return what is read of it."""
        shutil.rmtree(root, ignore_errors=True)
        for part in ("policies", "platform/clusters", "platform/extra", *SMALL):
            shutil.copytree(ROOT / part, root / part)
        for settings in (root / "jobs").rglob("*.json"):
            settings.write_text("{}")  # batch sizes in it go with other numbers of nodes, and Kueue reads none of it
        values = {f"platform/clusters/{self.cluster}.yaml": self.fields}
        values |= {file_of(name): fields for name, fields in self.jobs.items()}
        for path in (ROOT / "platform/repository.yaml", *sorted((ROOT / "platform/teams").glob("*.yaml"))):
            values[str(path.relative_to(ROOT))] = {
                key: value for key, value in spec(path).items() if key != "priorities"
            }
        for name, value in values.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dump(value), encoding="utf-8")
        return check_repository(root)


def case(root: Path, cluster: str, seed: int) -> Case:
    """Return a cluster with its jobs as they are, or where the seed is not 0, with changes by chance.

    Jobs that are refused are left out, and where the cluster is, other changes are drawn. They are written for that.
    """
    for number in range(TRIES):
        chance = random.Random(f"{cluster} {seed} {number}")
        fields, jobs = spec(ROOT / f"platform/clusters/{cluster}.yaml"), of_cluster(cluster)
        if seed:
            jobs = changed_jobs(chance, jobs)
            if chance.random() < 0.5:
                share(chance, fields, jobs)
            change_cluster(chance, fields)
        refused = {error.location.file for error in errors(Case(cluster, fields, jobs).written(root))}
        found = Case(cluster, fields, {name: jobs[name] for name in jobs if file_of(name) not in refused})
        checked = found.written(root)
        if checked.runs and not any(errors(checked)):
            return found
    raise AssertionError(f"{cluster} {seed}: every change is refused: {[error.message for error in errors(checked)]}")


def gangs(root: Path, seed: int) -> Case:
    """Return the cluster with native gangs, with jobs by chance that get quota and compete for nodes."""
    chance = random.Random(f"gangs {seed}")
    fields, jobs = spec(ROOT / f"platform/clusters/{NATIVE}.yaml"), dict[str, Object]()
    (one,) = of_cluster(NATIVE).values()
    nodes = chance.choice([3, 4, 5, 6])
    (pool,) = fields["pools"].values()
    pool["nodes"] = nodes
    (queue,) = fields["queues"].values()
    queue["nominalQuota"] = {name: {"nodes": nodes} for name in fields["pools"]}
    fields["recoveryMinutes"] = 0
    for name in "abc"[: chance.choice([1, 2, 2, 3, 3])]:
        size = chance.randrange(1, nodes + 1)
        jobs[f"nlp/{name}"] = {**one, "nodes": size, "cpusPerNode": chance.choice([20, 31, 40, 40])}
        if size > 1 and chance.random() < 0.4:
            jobs[f"nlp/{name}"]["minNodes"] = chance.randrange(1, size)
    found = Case(NATIVE, fields, jobs)
    assert not list(errors(found.written(root))), seed
    return found


def errors(checked: Checked) -> Iterator[Finding]:
    """Yield what is refused."""
    yield from (finding for finding in checked.findings if finding.is_error)


def file_of(name: str) -> str:
    """Return the file of a job."""
    return f"jobs/{name}.yaml"


def spec(path: Path) -> Object:
    """Return the fields of a spec."""
    (document,), _ = load(path.read_bytes(), file=path.name)
    return dict(document.value)


def of_cluster(cluster: str) -> dict[str, Object]:
    """Return the jobs of a cluster, but for steps of pipelines."""
    found = {}
    for path in sorted((ROOT / "jobs").glob("*/*.yaml")):
        fields = spec(path)
        if fields.get("cluster") == cluster and path.stem not in STEPS:
            found[f"{path.parent.name}/{path.stem}"] = fields
    return found


def changed_jobs(chance: random.Random, jobs: dict[str, Object]) -> dict[str, Object]:
    """Return some of the jobs, and some twice, of other sizes and priorities."""
    names = sorted(jobs)
    kept = {name: jobs[name] for name in names if chance.random() < 0.75}
    for index in range(chance.choice([0, 0, 1, 2, 4])):
        name = chance.choice(names)
        kept[f"{name.partition('/')[0]}/more-{index}"] = dict(jobs[name])
    return {name: changed_job(chance, fields) for name, fields in kept.items()}


def changed_job(chance: random.Random, fields: Object) -> Object:
    """Return a job, maybe with other sizes or another priority."""
    found = dict(fields)
    if chance.random() < 0.5:
        found["priority"] = chance.choice(["low", "normal", "high"])
    if isinstance(nodes := fields.get("nodes"), int) and chance.random() < 0.4 and "minNodes" not in fields:
        found["nodes"] = chance.choice([1, max(1, nodes // 2), nodes + 1, nodes * 2])
    if isinstance(gpus := fields.get("gpusPerNode"), int) and "fabric" not in fields and chance.random() < 0.3:
        found["gpusPerNode"] = chance.choice([1, 2, 4, gpus])
    return found


def change_cluster(chance: random.Random, fields: Object) -> None:
    """Change the quotas of queues and how they lend, borrow and preempt, and the nodes of pools."""
    for pool in fields["pools"].values():
        if chance.random() < 0.3 and isinstance(pool["nodes"], int):
            pool["nodes"] = max(1, pool["nodes"] - chance.choice([1, 2, pool["nodes"] // 2]))
            if pool["nodes"] % pool.get("racks", 1):
                pool["racks"] = 1
    together = chance.random() < 0.5
    for queue in fields["queues"].values():
        if together and len(fields["queues"]) > 1:
            queue["cohort"] = "together"
        for quota in queue["nominalQuota"].values():
            for name in quota:
                if chance.random() < 0.4:
                    quota[name] = max(1, int(quota[name] * chance.choice([0.25, 0.5, 0.75, 1.25])))
        change_lending(chance, queue)
        if chance.random() < 0.6:
            queue.pop("preemption", None)
            if policy := chance.choice(PREEMPTION):
                queue["preemption"] = policy
        if chance.random() < 0.2:
            queue["queueingStrategy"] = chance.choice(["StrictFIFO", "BestEffortFIFO"])
    fields["waive"] = {**fields.get("waive", {}), "kq-overcommit": "changed by chance"}


def share(chance: random.Random, fields: Object, jobs: Mapping[str, Object]) -> None:
    """Have several queues of one cohort take the jobs of all teams, in parts by chance, and reclaim what is theirs."""
    queues = fields["queues"]
    if len(queues) == 1:
        queues["other"] = copy.deepcopy(next(iter(queues.values())))
    teams = sorted({team for queue in queues.values() for team in queue["teams"]})
    quotas = {pool: quota for queue in queues.values() for pool, quota in queue["nominalQuota"].items()}
    for queue, (more, of) in zip(queues.values(), chance.choice([((3, 4), (1, 4)), ((1, 2), (1, 2))]), strict=True):
        part = {
            pool: {name: max(1, amount * more // of) for name, amount in quota.items()}
            for pool, quota in quotas.items()
        }
        queue |= {"teams": teams, "cohort": "together", "nominalQuota": part, "preemption": PREEMPTION[3]}
        queue.pop("borrowingLimit", None)
    for fields in jobs.values():
        fields["queue"] = chance.choice(sorted(queues))


def change_lending(chance: random.Random, queue: Object) -> None:
    """Change what a queue lends and borrows, where it has somebody to lend to."""
    for field in ("borrowingLimit", "lendingLimit"):
        if "cohort" in queue and chance.random() < 0.4:
            limits = {
                pool: {name: chance.choice([0, amount // 2, amount]) for name, amount in quota.items()}
                for pool, quota in queue["nominalQuota"].items()
            }
            queue[field] = limits

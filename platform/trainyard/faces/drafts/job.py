"""A job that is about to be written: what has to be known, and the fields that follow from the answers."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.errors import SpecError
from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.system.repository import job_file
from trainyard.faces.drafts.questions import NONE, Question, in_field, unless_none, whole_number
from trainyard.render.launchers import launchers
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.gpus import offered_gpus as whole_gpus
from trainyard.render.sizing.gpus import offers
from trainyard.render.sizing.node import binary, size
from trainyard.specs.load import Loaded
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.job import LONGEST, Checkpoint, Job
from trainyard.specs.models.pools import Pool
from trainyard.specs.reading import document, layout
from trainyard.specs.sources import JobFile, Specs

HEADER = "# yaml-language-server: $schema=../../schemas/trainyard/job.json\n"
"""First line of a job file, for editors."""

SHARED = "shared"
"""The answer that asks for a share of a GPU, where several pods share each."""

GUESS = "10Gi"
"""Size of one checkpoint that is proposed: weights and optimizer of a model of half a billion parameters in 32 bits."""

DEADLINE = "24"
"""Hours after which a run on GPUs is stopped where nobody says: whoever needs more sees the line and raises it."""

GI = 2**30

ANSWERED = {
    "gpu": "gpus",
    "gpusPerNode": "gpus",
    "processesPerNode": "processes",
    "cpusPerNode": "cpus",
    "memoryPerNode": "memory",
    "maxHours": "max-hours",
    "secrets": "secrets",
    "checkpoint.everyMinutes": "every-minutes",
    "checkpoint.size": "checkpoint-size",
}
"""The questions by the fields that they fill, where those have other names."""


def question_of(path: str) -> str:
    """Return which question fills the field at a path, such as `checkpoint.size`."""
    first = path.partition(".")[0].partition("[")[0]
    return ANSWERED.get(path) or ANSWERED.get(first, first)


def taken_names(loaded: Loaded) -> dict[str, str]:
    """Return the names of all jobs that are there, readable or not, each with its file."""
    files = {f"{place.folder}/{place.name}": place.path for place in loaded.places if not place.is_python}
    return files | {f"{job.team}/{job.name}": job.source.file for job in loaded.specs.jobs}


@dataclass
class JobDraft:
    """A job of a repository, as far as it is known."""

    specs: Specs
    taken: dict[str, str]
    """Files by the names `<team>/<job>` of the jobs that are there."""
    answers: dict[str, str] = field(default_factory=dict)
    """By the name of the question."""

    def questions(self) -> Iterator[Question]:
        """Yield the questions; each follows from the answers before it."""
        yield Question("name", "name, as <team>/<job>", wrong=self.wrong_name)
        yield Question("cluster", "cluster", self.clusters())
        cluster = self.cluster
        pools = tuple(sorted({pool for queue in self.queues() for pool in cluster.queues[queue].nominal_quota}))
        best = max(pools, key=lambda name: whole_gpus(cluster.pools[name]) if name in cluster.pools else 0)
        yield Question("pool", "node pool", pools, proposed=best)
        queues = tuple(name for name in self.queues() if self.answers["pool"] in cluster.queues[name].nominal_quota)
        yield Question("queue", "queue", queues, proposed=queues[0])
        yield from self.gpus()
        if self.is_part:
            alone = whole_number("nodes", most=1, of="a part of a GPU trains by itself")
            yield Question("nodes", "nodes", default="1", asked=False, wrong=alone)
        else:
            yield Question("nodes", "nodes", default="1", wrong=whole_number("nodes"))
        yield from self.start()
        yield Question("image", "image, by digest", wrong=in_field(Job, "image"))
        yield from self.network()
        yield from self.checkpoint()
        yield from self.rest()

    @property
    def cluster(self) -> Cluster:
        """The cluster that was chosen."""
        return self.specs.clusters[self.answers["cluster"]]

    @property
    def pool(self) -> Pool:
        """The pool that was chosen."""
        return self.cluster.pools[self.answers["pool"]]

    @property
    def team(self) -> str:
        """The team whose job it is."""
        return self.answers["name"].partition("/")[0]

    @property
    def nodes(self) -> int:
        """How many nodes were asked for."""
        return int(self.answers["nodes"])

    @property
    def whole_gpus(self) -> int:
        """Whole GPUs of each pod."""
        gpus = self.answers.get("gpus", "0")
        return int(gpus) if gpus.isdecimal() else 0

    def wrong_name(self, name: str) -> str | None:
        """Return the problem of a new job's name."""
        team, slash, short = name.partition("/")
        if not slash or not short:
            hint = f"write {team}/<job>" if team in self.specs.teams else did_you_mean(team, self.specs.teams)
            return f"name {name!r} must be <team>/<job>; {hint}"
        if team not in self.specs.teams:
            return Question("team", "", tuple(self.specs.teams)).problem(team)
        if wrong := layout.job_name(job_file(team, short), short):
            return wrong.message
        if name in self.taken:
            return f"job {name!r} exists already, in {self.taken[name]}; choose another name"
        return None

    def clusters(self) -> tuple[str, ...]:
        """Return the clusters that admit the team; raises SpecError where none does."""
        found = tuple(sorted(name for name, cluster in self.specs.clusters.items() if self.team in cluster.teams()))
        if not found:
            raise SpecError(f"no queue admits team {self.team!r}; add it to queues in a file of platform/clusters")
        return found

    def queues(self) -> list[str]:
        """Return the queues of the cluster that admit the team."""
        return [name for name, queue in self.cluster.queues.items() if self.team in queue.teams]

    def gpus(self) -> Iterator[Question]:
        """Ask how many GPUs per node, or for which part of one."""
        count = whole_gpus(self.pool)
        parts = tuple(offer.profile or SHARED for offer in offers(self.pool) if not offer.whole)
        if count:
            of = f"pool {self.answers['pool']!r} has nodes of {count}"
            some = whole_number("gpus", least=0, most=count, of=of)
            wrong = (lambda answer: None if answer in parts else some(answer)) if parts else some
            yield Question("gpus", "GPUs per node", default=str(count), wrong=wrong)
        elif parts:
            yield Question("gpus", "part of a GPU", parts, default=parts[0] if len(parts) == 1 else None)
        else:
            yield Question("gpus", "GPUs per node", default="0", asked=False, wrong=self.wrong_gpus)

    def wrong_gpus(self, answer: str) -> str | None:
        """Return the problem of GPUs in a pool that has none."""
        pool = self.answers["pool"]
        return None if answer == "0" else f"pool {pool!r} has no GPUs; choose another pool, or request none"

    def start(self) -> Iterator[Question]:
        """Ask what is started, and how many processes of it."""
        yield Question("command", "command", default=NONE, asked=False, wrong=wrong_command)
        is_command = self.answers["command"] != NONE
        if not is_command:
            yield Question("program", "program, the script in the image", wrong=in_field(Job, "program"))
        launcher = "exec" if is_command else "python" if self.is_part else "torchrun"
        yield Question("launcher", "launcher", tuple(sorted(launchers())), default=launcher, asked=False)
        if self.answers["launcher"] == "torchrun":
            yield Question("processes", "processes per node", default=self.processes, wrong=whole_number("processes"))

    @property
    def is_part(self) -> bool:
        """Whether it asks for a part of a GPU."""
        return not self.answers.get("gpus", "0").isdecimal()

    @property
    def has_gpus(self) -> bool:
        """Whether it asks for GPUs, or for a part of one."""
        return self.is_part or self.whole_gpus > 0

    @property
    def processes(self) -> str:
        """How many processes a node has where the job says nothing."""
        return str(self.whole_gpus or 1)

    def network(self) -> Iterator[Question]:
        """Ask for the fabric, where the pool has one and several nodes would use it."""
        fabric, count = fabric_type(self.cluster), whole_gpus(self.pool)
        there = fabric.usable(self.cluster) and fabric.reaches(self.cluster, self.answers["pool"])
        fits = self.whole_gpus == count or not fabric.serves_whole_nodes(self.cluster)
        level = self.specs.teams[self.team].level_on(self.answers["cluster"])
        allowed = fabric.serves(self.cluster, level)
        choices = ("rdma", "tcp") if there and self.whole_gpus and fits and allowed else ("tcp",)
        several = self.nodes > 1 and len(choices) > 1
        yield Question("fabric", "network", choices, default="rdma" if several else "tcp", asked=several)

    def checkpoint(self) -> Iterator[Question]:
        """Ask where the job saves, how often and how much."""
        volumes = self.volumes()
        best = next((name for name in volumes if name.startswith("checkpoint")), NONE)
        default = best if self.has_gpus else NONE
        yield Question("checkpoint", "volume for checkpoints", (*volumes, NONE), default=default, proposed=best)
        if (volume := self.answers["checkpoint"]) == NONE:
            return
        every = str(Checkpoint.model_fields["every_minutes"].default)
        wrong = whole_number("every-minutes")
        yield Question("every-minutes", "minutes between checkpoints", default=every, wrong=wrong)
        wrong = in_field(Job, "checkpoint", "size")
        most = size(self.specs.teams[self.team].volumes[volume].size) // (Checkpoint.model_fields["keep"].default + 1)
        guess = GUESS if most >= size(GUESS) else binary(most, step=min(GI, most))
        yield Question("checkpoint-size", "size of one checkpoint", default=guess, wrong=wrong)

    def volumes(self) -> tuple[str, ...]:
        """Return the team's volumes on the cluster that as many nodes may write to."""
        access = {"ReadWriteMany", "ReadWriteOnce"} if self.nodes == 1 else {"ReadWriteMany"}
        fit = {name for name, storage in self.cluster.storage.items() if storage.access in access}
        return tuple(
            name
            for name, volume in self.specs.teams[self.team].volumes.items()
            if volume.storage in fit and (not volume.clusters or self.answers["cluster"] in volume.clusters)
        )

    def rest(self) -> Iterator[Question]:
        """Ask for secrets, a deadline and sizes that else follow from the node."""
        secrets = self.specs.teams[self.team].secrets
        words = f"secrets, as NAME=secret/key separated by commas; the team has {', '.join(secrets)}"
        yield Question("secrets", words, default=NONE, asked=bool(secrets), wrong=unless_none(self.wrong_secrets))
        by_kueue = self.cluster.queues[self.answers["queue"]].scheduler == "kueue"  # Volcano's counts each start anew
        hours = DEADLINE if self.has_gpus and by_kueue else NONE
        yield Question("max-hours", "stop a run after this many hours", default=hours, wrong=unless_none(wrong_hours))
        yield Question("cpus", "CPUs", default=NONE, asked=False, wrong=unless_none(whole_number("cpus")))
        wrong = unless_none(in_field(Job, "memoryPerNode"))
        yield Question("memory", "memory", default=NONE, asked=False, wrong=wrong)

    def wrong_secrets(self, answer: str) -> str | None:
        """Return the problem of `NAME=secret/key,…`; values are never shown, since one may be the secret itself."""
        there = self.specs.teams[self.team].secrets
        for part in answer.split(","):
            name, given, reference = part.strip().partition("=")
            if not given or in_field(Job, "secrets", name)(reference):
                return "secrets must be NAME=secret/key separated by commas, never the value"
            if (secret := reference.partition("/")[0]) not in there:
                return f"secret {secret!r} is not one of team {self.team!r}; {did_you_mean(secret, there)}"
        return None

    def fields(self) -> dict[str, Any]:
        """Return the fields of the job."""
        has = {name: answer for name, answer in self.answers.items() if answer != NONE}
        fields: dict[str, Any] = {"cluster": has["cluster"], "launcher": has["launcher"], "image": has["image"]}
        fields |= {"command": shlex.split(has["command"])} if "command" in has else {"program": has["program"]}
        if has.get("processes", self.processes) != self.processes:
            fields["processesPerNode"] = int(has["processes"])
        fields |= {"pool": has["pool"], "nodes": self.nodes}
        if self.is_part:
            fields["gpu"] = {"shared": True} if has["gpus"] == SHARED else {"profile": has["gpus"]}
        elif self.whole_gpus:
            fields["gpusPerNode"] = self.whole_gpus
        fields |= {"cpusPerNode": int(has["cpus"])} if "cpus" in has else {}
        fields |= {"memoryPerNode": has["memory"]} if "memory" in has else {}
        fields["queue"] = has["queue"]
        fields |= {"spot": True} if self.pool.spot else {}
        fields |= {"fabric": "rdma"} if has["fabric"] == "rdma" else {}
        if "checkpoint" in has:
            every, value = int(has["every-minutes"]), has["checkpoint-size"]
            fields["checkpoint"] = {"volume": has["checkpoint"], "everyMinutes": every, "size": value}
        if "secrets" in has:
            pairs = (part.strip().partition("=") for part in has["secrets"].split(","))
            fields["secrets"] = {name: reference for name, _, reference in pairs}
        hours = float(has.get("max-hours", 0))
        return fields | ({"maxHours": int(hours) if hours.is_integer() else hours} if hours else {})


def wrong_command(answer: str) -> str | None:
    """Return the problem of a command, quoted as in a shell."""
    try:
        shlex.split(answer)
    except ValueError:
        return f"command {answer!r} has an unclosed quote"
    return None


def wrong_hours(answer: str) -> str | None:
    """Return the problem of a number of hours."""
    try:
        if 0 < float(answer) <= LONGEST:
            return None
    except ValueError:
        pass
    return f"max-hours is {answer!r}, but must be a number of hours, at most {LONGEST}"


def read_draft(*, team: str, name: str, text: str) -> tuple[JobFile | None, list[Finding]]:
    """Return the job of that team, name and text, and what is wrong with its fields."""
    path = job_file(team, name)
    if wrong := layout.job_name(path, name):
        return None, [wrong]
    source, findings = document.read(path, text.encode())
    if source is None or findings:
        return None, findings
    job, errors = document.validate(Job, source)
    return (JobFile(team, name, job, source) if job else None), errors

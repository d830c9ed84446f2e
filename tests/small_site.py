"""A repository whose objects are rendered by a few lines instead of charts, so that tests of frozen runs stay small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from make import make_job_file
from repo import Repo
from trainyard.base.documents import dump
from trainyard.base.findings import Location
from trainyard.base.system import git
from trainyard.change.synth.assemble import Terms, assemble, decide
from trainyard.change.synth.finish import Work, finish
from trainyard.change.synth.render.text import Rendered, render_folder
from trainyard.render.tree.base import find_base
from trainyard.render.tree.disk import Disk
from trainyard.render.tree.wanted import Wanted, wanted_entry


@dataclass(frozen=True)
class Origin:
    """Where an object comes from."""

    file: str
    path: tuple[str | int, ...] = ()


@dataclass
class Site:
    """What people wrote, the code that renders it, and the tree on disk; change a field, then `synth`."""

    repo: Repo
    jobs: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Fields of each job beside the defaults of `make.JOB`, by `team/job`."""
    clusters: dict[str, list[str]] = field(default_factory=lambda: {"test": ["research"]})
    """Names of each cluster's platform objects: queues."""
    template: str = "1"
    """Stands for our own code, for operators and for everything else that shapes a run's files."""
    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Fields of platform objects beside their metadata, by kind."""
    volume: str | None = None
    """Claim in which new runs keep their checkpoints."""
    hardware: list[str] = field(default_factory=list)
    """Names of the node policies of one cluster."""
    hardware_on: str = "test"
    live: bool = True
    version: str = "1.0.0"

    @property
    def generated(self) -> Path:
        """The tree on disk."""
        return self.repo.root / "generated"

    def copied(self, root: Path) -> Site:
        """Return a copy in another folder."""
        return replace(deepcopy(self), repo=self.repo.copied(root))

    def job(self, name: str, **changes: Any) -> str:
        """Write a job and return the name of its run."""
        self.jobs[name] = {**self.jobs.get(name, {}), **changes}
        self.repo.put(f"jobs/{name}.yaml", dump(dict(self.jobs[name])))
        return self.run_of(name)

    def delete(self, name: str) -> None:
        """Delete a job's file."""
        del self.jobs[name]
        (self.repo.root / f"jobs/{name}.yaml").unlink()

    def run_of(self, name: str) -> str:
        """Return the name of the run that a job asks for."""
        return next(item.run for item in self.asked() if f"{item.team}/{item.job}" == name)

    def asked(self) -> list[Wanted]:
        """Return what the jobs ask for."""
        split = ((name.partition("/"), changes) for name, changes in self.jobs.items())
        return [wanted_entry(make_job_file(job, team=team, **changes)) for (team, _, job), changes in split]

    def render(self, wanted: Sequence[Wanted]) -> Iterator[Rendered]:
        """Render runs: a Job and a Service each."""
        for item in wanted:
            origin = Origin(f"jobs/{item.team}/{item.job}.yaml", ("nodes",))
            labels = {"kueue.x-k8s.io/queue-name": "research", "template": self.template}
            metadata = {"name": item.run, "namespace": item.team, "labels": labels}
            objects = [
                (
                    {"kind": "Job", "apiVersion": "batch/v1", "metadata": metadata, "spec": job_spec(self.volume)},
                    origin,
                ),
                ({"kind": "Service", "apiVersion": "v1", "metadata": metadata}, origin),
            ]
            yield render_folder(item.cluster, item.folder, objects)

    def folders(self) -> Iterator[Rendered]:
        """Render everything else: the queues, and the permanent object of each team's runs."""
        for cluster, queues in self.clusters.items():
            origin = Origin(f"platform/clusters/{cluster}.yaml", ("queues",))
            shared = [plain("ClusterQueue", name, **self.fields.get("ClusterQueue", STOP)) for name in queues]
            yield render_folder(cluster, "platform", [(item, origin) for item in shared])
            if self.hardware and cluster == self.hardware_on:
                nodes = [(plain("SriovNetworkNodePolicy", name), origin) for name in self.hardware]
                yield render_folder(cluster, "hardware", nodes)
            for team in ("nlp", "vision"):
                local = [(plain("LocalQueue", name, team), origin) for name in queues]
                yield render_folder(cluster, f"teams/{team}", local)
                yield render_folder(cluster, f"runs/{team}", [(plain("ConfigMap", "runs", team), origin)])

    def prepare(self, *, checking: bool = False, base: str | None = None) -> Work:
        """Work out what to do."""
        setting = Location("platform/repository.yaml", 1, 1)
        terms = Terms(self.live, setting, self.version, lambda entry: Location(entry.spec))
        disk = Disk(self.repo.root)
        snapshot, notes = find_base(git.find(self.repo.root), disk, live=self.live, ref=base, writing=not checking)
        decision = decide(self.asked(), snapshot, terms)
        rendered = [*self.folders(), *self.render(decision.fresh)]
        made = assemble(decision, rendered, snapshot, terms, folder=self.generated)
        return finish(disk, made.tree, made.decision, notes=notes, checking=checking)

    def synth(self, *, base: str | None = None) -> Work:
        """Write the tree; no error may stand."""
        self.settings()
        work = self.prepare(base=base)
        assert not work.refused, work.findings
        list(work.write())
        return work

    def settings(self) -> None:
        """Write what the product reads from the base besides the tree."""
        self.repo.put("platform/repository.yaml", f"live: {str(self.live).lower()}\n")

    def commit(self) -> str:
        """Synthesise and commit."""
        self.synth()
        return self.repo.commit()

    def problems(self, *, base: str | None = None) -> list[str]:
        """Return the rules of the errors that stand in the way of a synth."""
        return rules(self.prepare(base=base))

    def check(self, *, base: str | None = None) -> list[str]:
        """Return the rules of the errors that `synth --check` reports, and `diff` where the tree differs."""
        work = self.prepare(checking=True, base=base)
        return sorted([*rules(work), *(["diff"] if list(work.diff()) else [])])

    def files(self, folder: str = "") -> dict[str, str]:
        """Return the files of the tree on disk, below a folder of it."""
        top = self.generated / folder
        return {
            str(path.relative_to(top)): path.read_text(encoding="utf-8")
            for path in sorted(top.rglob("*"))
            if path.is_file()
        }

    def ledger(self, name: str, cluster: str = "test") -> list[tuple[str, str]]:
        """Return name and state of every run that a job ever had on a cluster."""
        from trainyard.render.tree import ledger

        data = (self.generated / cluster / "ledger" / f"{name}.json").read_bytes()
        entries = ledger.load(data)
        assert entries is not None
        return [(entry.name, entry.state) for entry in entries]


def job_spec(volume: str | None) -> dict[str, Any]:
    """Return the spec of a Job of two pods, with checkpoints in a volume."""
    pod: dict[str, Any] = {"automountServiceAccountToken": False, "containers": []}
    if volume:
        env = [{"name": "CHECKPOINT_DIR", "value": "/checkpoints"}]
        mounts = [{"name": "state", "mountPath": "/checkpoints"}]
        pod |= {
            "containers": [{"name": "trainer", "env": env, "volumeMounts": mounts}],
            "volumes": [{"name": "state", "persistentVolumeClaim": {"claimName": volume}}],
        }
    return {"completions": 2, "parallelism": 2, "template": {"spec": pod}}


STOP = {"spec": {"stopPolicy": "None"}}


def plain(kind: str, name: str, namespace: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a small object."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields}


def rules(work: Work) -> list[str]:
    """Return the rules of the errors."""
    return sorted({finding.rule for finding in work.findings if finding.is_error})


def texts(work: Work) -> Iterable[str]:
    """Return the sentences of all findings."""
    return [finding.message for finding in work.findings]

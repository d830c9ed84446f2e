"""The two sides of a change: the tree and the specs at the base, and those at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

from trainyard.base.documents import load
from trainyard.base.manifests import value_at
from trainyard.base.pools import Selectors, declared_selectors
from trainyard.base.system.repository import GENERATED, JOBS, cluster_file
from trainyard.change.plan.read.requests import OR
from trainyard.change.plan.read.shape import VENDORS, Shape, shape
from trainyard.render.tree import index, layout
from trainyard.render.tree.ledger import Entry
from trainyard.render.tree.ledgers import JobKey
from trainyard.render.tree.snapshot import Snapshot

Spec = Callable[[str], tuple[bytes | None, bytes | None]]
"""The text of a file at the base and at hand."""


class Programs(Protocol):
    """What knows the jobs that programs make."""

    def job(self, team: str, name: str, file: str) -> Any:
        """Return the fields of a job that a program makes, None where they are not known."""


@dataclass(frozen=True)
class Run:
    """One run as a tree has it."""

    key: JobKey
    entry: Entry
    objects: tuple[Any, ...] = ()
    spec: str = ""
    """The file that its job comes from."""
    job: Any = None
    """That file's fields, None where a program makes the job."""
    selectors: Selectors = field(default_factory=dict)
    """The labels by which the cluster's file on this side says that pods select each pool."""
    simulated: bool = False
    """Whether its cluster on this side is a rehearsal, where it holds no GPUs and computes nothing."""

    @cached_property
    def shape(self) -> Shape:
        """What it is."""
        found = shape(self.objects, self.selectors)
        return replace(found, gpus=0) if self.simulated else found

    @property
    def folder(self) -> str:
        """Where its files are, in the repository."""
        return f"{GENERATED}/{self.key[0]}/{layout.run_folder(self.key[1], self.entry.name)}"


@dataclass(frozen=True)
class Sides:
    """Both trees, and what reads the files of the repository on both sides."""

    base: Snapshot
    now: Snapshot
    spec: Spec
    changed: frozenset[str] = frozenset()
    """The files of jobs that differ."""
    programs: Programs | None = None
    """What knows the jobs at hand that programs make."""
    files: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def values(self, file: str) -> tuple[Any, Any]:
        """Return the content of a YAML file at the base and now; each is read once."""
        if file not in self.files:
            before, after = self.spec(file)
            self.files[file] = plain(before, file), plain(after, file)
        return self.files[file]

    def runs(self, wanted: Mapping[JobKey, Entry], *, old: bool) -> dict[JobKey, Run]:
        """Return runs with their objects and their jobs, all read at once."""
        side = self.base if old else self.now
        files = {key: files_of(side, key, entry) for key, entry in wanted.items()}
        contents = iter(side.read([oid for found in files.values() for oid in found.values()]))
        indexes = side.indexes_of((key[0], layout.run_folder(key[1], entry.name)) for key, entry in wanted.items())
        found = {}
        for key, entry in wanted.items():
            objects = tuple(plain(next(contents), name) for name in files[key])
            spec = spec_of(indexes[key[0], layout.run_folder(key[1], entry.name)])
            job = self.values(spec)[0 if old else 1] if spec.endswith(".yaml") else None
            if spec.endswith(".py") and not old and self.programs is not None:
                job = self.programs.job(*key[1:], spec)
            simulated = self.is_simulated(key[0], old=old)
            found[key] = Run(key, entry, objects, spec, job, self.selectors(key[0], old=old), simulated)
        return found

    def selectors(self, cluster: str, *, old: bool) -> Selectors:
        """Return the labels that select each pool of a cluster, as its file on one side says it; none of usual ones."""
        file, side = cluster_file(cluster), 0 if old else 1
        is_usual = b"selector" not in (self.spec(file)[side] or b"")  # most files need no second look
        return {} if is_usual else declared_selectors(self.values(file)[side])

    def is_simulated(self, cluster: str, *, old: bool = False) -> bool:
        """Say whether a cluster is a rehearsal, as its file on one side says it, or one of its bases."""
        side, seen = 0 if old else 1, set[str]()
        while cluster not in seen:
            seen.add(cluster)
            file = cluster_file(cluster)
            text = self.spec(file)[side] or b""
            if b"simulated" not in text and b"base" not in text:  # most files need no second look
                return False
            value = self.values(file)[side]
            if not isinstance(value, Mapping):
                return False
            if "simulated" in value:
                return value["simulated"] is not None
            cluster = str(value.get("base"))
        return False

    def price(self, cluster: str, asks: Mapping[str, Mapping[str, float]], *, old: bool = False) -> float | None:
        """Return the price of the requested GPUs per hour, in the dearest of several pools; None without a price."""
        if self.is_simulated(cluster, old=old):
            return None
        value = self.values(cluster_file(cluster))[0 if old else 1]
        total = None
        for pool, amounts in asks.items():
            gpus = sum(amount for name, amount in amounts.items() if name.startswith(VENDORS))
            prices = [value_at(value, ("pools", name, "pricePerGpuHour")) for name in pool.split(OR)] if gpus else []
            known = [price for price in prices if isinstance(price, (int, float)) and not isinstance(price, bool)]
            if len(known) < len(prices):
                return None
            total = (total or 0) + gpus * max(known) if gpus else total
        return total


def files_of(side: Snapshot, key: JobKey, entry: Entry) -> Mapping[str, str]:
    """Return the files of a run."""
    return side.folder(f"{key[0]}/{layout.run_folder(key[1], entry.name)}")


def spec_of(entries: Mapping[str, index.Entry]) -> str:
    """Return the file of the job that a run's objects come from; nothing where no index says it."""
    return next((entry.spec for entry in entries.values() if entry.spec.startswith(f"{JOBS}/")), "")


def plain(data: bytes | None, file: str) -> Any:
    """Return the first document of a file."""
    documents, _ = load(data or b"", file=file)
    return documents[0].value if documents else None

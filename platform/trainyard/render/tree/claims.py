"""What becomes of volumes that a change touches: a claim that is there can grow, where its class lets it, and no more.

Facts: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidatePersistentVolumeClaimUpdate,
plugin/pkg/admission/storage/persistentvolume/resize/admission.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trainyard.base.documents import Path, load
from trainyard.base.findings import Finding, Location, Severity, format_path
from trainyard.base.manifests import value_at
from trainyard.base.rules import Rule
from trainyard.base.system.repository import cluster_file
from trainyard.render.tree import index, layout
from trainyard.render.tree.snapshot import Snapshot
from trainyard.specs.models.cluster import Cluster
from trainyard.upstream.apiserver.core.persistentvolumeclaim import as_bound, class_of, size_of

Read = Callable[[Sequence[str]], Iterator[bytes]]
"""Contents by path, in order."""

CLAIM, CLASS = "persistentvolumeclaim.", "platform/storageclass."
"""What the files of claims, and those of classes in a cluster's folder, begin with."""

VALIDATION = "kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidatePersistentVolumeClaimUpdate"
SHRINK = Rule(
    id="sto-shrink",
    title="An existing volume never shrinks.",
    why="the API server refuses the claim, so Argo CD cannot sync the team until the size is back",
    fix="keep the size; to save space, create another volume and move the data",
    source=VALIDATION,
    layer="update",
)
GROWTH = Rule(
    id="sto-growth",
    title="An existing volume grows only if its storage allows this.",
    why="the API server refuses the claim, so Argo CD cannot sync the team until the size is back",
    fix="keep the size, or create another volume and move the data",
    source="kubernetes v1.35.4 plugin/pkg/admission/storage/persistentvolume/resize/admission.go",
    layer="update",
    may_warn=True,
)
FIXED = Rule(
    id="sto-claim-fixed",
    title="Only the size of an existing volume changes.",
    why="the API server refuses the claim, so Argo CD cannot sync the team until the field is back",
    fix="restore the field; create another volume and move the data if needed",
    source=VALIDATION,
    layer="update",
    may_warn=True,
)

SIZE: Path = ("resources", "requests", "storage")
OF_VOLUME: dict[Path, str] = {SIZE: "size", ("dataSource",): "fromSnapshot"}
"""Fields of a team's volume, by those of its claim; all others follow from `storage`."""

FREE = frozenset({"resources", "volumeAttributesClassName"})
"""Fields of a claim that have rules of their own."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim, before and after a change."""

    cluster: str
    entry: index.Entry
    old: dict[str, Any]
    new: dict[str, Any]
    storage: Callable[[str | None], bool | None]
    """Whether a class lets volumes grow; None where that is not known."""

    def check(self, locate: Callable[[index.Entry], Location]) -> Iterator[Finding]:
        """Yield the findings on changes of a claim that no cluster takes, or may not take."""
        was, now = (value_at(claim, ("spec", *SIZE)) for claim in (self.old, self.new))
        before, after = size_of(self.old), size_of(self.new)
        name = f"volume {self.entry.name!r}"
        if before is not None and after is not None and after < before and after <= self.capacity:
            message = f"{name} shrinks from {was} to {now}, but volumes cannot shrink; use at least {was}"
            yield self.finding(SHRINK, message, SIZE, locate)
        elif before is not None and after is not None and after > before:
            yield from self.growth(f"{name} grows from {was} to {now}", locate)
        for field in self.changed_fields():
            yield self.field_finding(name, field, locate)

    @property
    def capacity(self) -> int:
        """The capacity that the claim has, in thousandths of bytes: what it asked for, unless its status says."""
        return size_of({"spec": {"resources": {"requests": value_at(as_bound(self.old), ("status", "capacity"))}}}) or 0

    def growth(self, what: str, locate: Callable[[index.Entry], Location]) -> Iterator[Finding]:
        """Yield a growth that the class forbids, or of which nothing is known."""
        name = class_of(self.new)
        grows = self.storage(name)
        if grows is None:
            which = f"storage {name!r}" if name else "the cluster's default storage"
            message = f"{what}; check with `kubectl get storageclass` whether {which} allows that"
            fix = "where it does, write allowVolumeExpansion: true in the cluster's storage"
            yield replace(self.finding(GROWTH, message, SIZE, locate, severity=Severity.WARNING), fix=fix)
        elif not grows:
            message = f"{what}, but volumes of storage {name!r} cannot grow; keep the size, or add another volume"
            yield self.finding(GROWTH, message, SIZE, locate)

    def changed_fields(self) -> Iterator[str]:
        """Yield the fields, size apart, that are not as they were."""
        old, new = (claim.get("spec") for claim in (self.old, self.new))
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            names = {str(name) for name in {*old, *new}} - FREE
            yield from (name for name in sorted(names) if old.get(name) != new.get(name))

    def field_finding(self, name: str, field: str, locate: Callable[[index.Entry], Location]) -> Finding:
        """Return the finding on a field that changes; what a cluster filled in meanwhile may be what is written now."""
        was, now = (value_at(claim, ("spec", field)) for claim in (self.old, self.new))
        if was is None and field in {"volumeName", "storageClassName"}:
            message = f"{name} now sets {field} {now!r}; the API server accepts only the value that it chose before"
            return self.finding(FIXED, message, (field,), locate, severity=Severity.WARNING)
        if field in {"dataSource", "dataSourceRef"}:
            message = f"{name} exists, so the snapshot that it begins with cannot change; restore it in a new volume"
            return self.finding(FIXED, message, (field,), locate)
        message = f"{field} of {name} changes from {show(was)} to {show(now)}, but it cannot change; restore it"
        return self.finding(FIXED, message, (field,), locate)

    def finding(
        self,
        rule: Rule,
        message: str,
        path: Path,
        locate: Callable[[index.Entry], Location],
        *,
        severity: Severity | None = None,
    ) -> Finding:
        """Return a finding at the line that a person edits."""
        place = self.place(path)
        found = rule.of(locate(place), message, severity=severity, fix=rule.fix)
        return replace(found, path=format_path(place.field) or None, object=self.entry.ref)

    def place(self, path: Path) -> index.Entry:
        """Return where a field of the claim comes from: of a team's volume its own words, else the object's."""
        if self.entry.field[:1] != ("volumes",):
            return replace(self.entry, field=(*self.entry.field, "spec", *path))
        if path == ("accessModes",):
            storage = ("storage", class_of(self.new) or "", "access")
            return replace(self.entry, spec=cluster_file(self.cluster), field=storage)
        return replace(self.entry, field=(*self.entry.field, OF_VOLUME.get(path, "storage")))


def check(
    base: Snapshot,
    now: Mapping[str, str],
    read: Read,
    clusters: Mapping[str, Cluster],
    locate: Callable[[index.Entry], Location],
) -> Iterator[Finding]:
    """Yield the findings on changes of claims that clusters have; a base that nothing syncs has none.

    `now` has the content ids of the tree by path, `read` gives contents, `locate` says where in the specs an entry of
    an index comes from.
    """
    if not base.live:
        return
    touched = [path for path, oid in base.files.items() if is_claim(path) and now.get(path) not in {None, oid}]
    seen: set[Finding] = set()
    for path, before, after in zip(
        touched, base.read([base.files[path_] for path_ in touched]), read(touched), strict=True
    ):
        cluster, _, inside = path.partition("/")
        folder, _, name = inside.rpartition("/")
        entry = (indexed_entries(cluster, folder, now, read) or base.index(cluster, folder)).get(name)
        old, new = plain(before), plain(after)
        if entry is None or old is None or new is None:
            continue

        def storage(name: str | None, cluster: str = cluster) -> bool | None:
            return grows(name, cluster, now, read, clusters)

        for found in Claim(cluster, entry, old, new, storage).check(locate):
            if found not in seen:
                seen.add(found)
                yield found


def indexed_entries(cluster: str, folder: str, now: Mapping[str, str], read: Read) -> Mapping[str, index.Entry]:
    """Return the index that a folder has now; empty where somebody deleted it, or its text is none."""
    path = f"{cluster}/{layout.index_file(folder)}"
    if path not in now:
        return {}
    (listed,) = read([path])
    return index.load(listed, folder) or {}


def is_claim(path: str) -> bool:
    """Say whether a file below `generated/` is a claim that is no run's own."""
    return path.rpartition("/")[2].startswith(CLAIM) and layout.run_of(path) is None


def grows(
    name: str | None, cluster: str, now: Mapping[str, str], read: Read, clusters: Mapping[str, Cluster]
) -> bool | None:
    """Say whether volumes of a class may grow: as the class in the tree says, else as the cluster's file does."""
    if not name:
        return None if name is None else False
    path = f"{cluster}/{CLASS}{name}.yaml"
    if path in now:
        (data,) = read([path])
        return (plain(data) or {}).get("allowVolumeExpansion") is True
    declared = clusters[cluster].storage.get(name) if cluster in clusters else None
    return declared.allow_volume_expansion if declared else None


def plain(data: bytes) -> dict[str, Any] | None:
    """Return the first object of a file, None where there is none."""
    documents, _ = load(data, file="")
    value = documents[0].value if documents else None
    return value if isinstance(value, dict) else None


def show(value: Any) -> str:
    """Return a value as a message shows it."""
    return "nothing" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else repr(value)

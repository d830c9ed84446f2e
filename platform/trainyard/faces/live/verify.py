"""Compares our verdict on a cluster's generated objects with that of the cluster's own API server, by dry runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from trainyard.base.errors import SpecError
from trainyard.base.findings import ObjectRef, Severity
from trainyard.base.manifests import Manifest
from trainyard.base.system.repository import GENERATED
from trainyard.faces.live.server import Answer, Server
from trainyard.judge.checks.checking import Checking
from trainyard.judge.checks.result import Result
from trainyard.judge.checks.validate import decode_all
from trainyard.render.operators import kueue
from trainyard.specs.editing.named import cluster_of
from trainyard.specs.releases.gates import cluster_gates
from trainyard.specs.sources import Specs
from trainyard.upstream.apiserver import Around, Judge, Missing, aware


@dataclass(frozen=True, slots=True)
class Row:
    """One object on which the two differ, or of which the server says nothing."""

    file: str
    ref: ObjectRef
    ours: str
    server: str
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came out for one cluster."""

    cluster: str
    server: str
    """The server's minor version."""
    agreed: int
    rows: tuple[Row, ...]

    @property
    def differences(self) -> tuple[Row, ...]:
        """The objects on which verdicts differ."""
        return tuple(one_row for one_row in self.rows if one_row.server in ("valid", "invalid"))


NOT_FOUND = 404


def verify(root: Path, specs: Specs, cluster: str, server: Server) -> Comparison:
    """Ask the server about every object of generated/<cluster>, in dry runs, and keep what it sees otherwise than we.

    The specs are those of the repository, without errors. Raises SpecError where the cluster does not exist or has no
    objects, and ToolError where the server cannot be read.
    """
    cluster = cluster_of(cluster, specs.clusters)
    checking = Checking(root, specs, root)
    told = Result()
    described = checking.specs.clusters[cluster]
    known = checking.catalog(cluster, described, told)
    manifests = decode_all(checking.inputs(cluster), told)
    if not manifests:
        raise SpecError(f"{GENERATED}/{cluster}/ has no objects; run `trainyard synth`")
    namespaces = checking.namespaces(described, manifests)
    said = Around(gates=cluster_gates(described), scope=kueue.scope(described))
    judge = Judge(known, namespaces=namespaces, around=said, refused_later=Severity.WARNING)
    return compare(cluster, manifests, aware(judge, [manifest.value for manifest in manifests]), server)


def compare(cluster: str, manifests: Iterable[Manifest], judge: Judge, server: Server) -> Comparison:
    """Ask about every object, and keep those on which the server differs or says nothing."""
    objects = list(manifests)
    made = {obj.name for obj in objects if obj.kind == "Namespace" and not obj.group}
    version = server.version()
    rows = [row(obj, judge, server, made) for obj in objects]
    kept = tuple(one_row for one_row in rows if one_row is not None)
    return Comparison(cluster, version, len(objects) - len(kept), kept)


def row(manifest: Manifest, judge: Judge, server: Server, made: set[str]) -> Row | None:
    """Return the difference on one object, None where both verdicts agree."""
    kind = judge.catalog.lookup(*manifest.gvk, gates=judge.around.gates)
    if isinstance(kind, Missing):
        return Row(manifest.file, manifest.ref, "unknown", "not asked", kind.message)
    mine = judge.judge(manifest)
    answer = server.apply(manifest.value, kind)
    theirs = verdict(answer, waits=manifest.namespace in made)
    if theirs == mine.verdict:
        return None
    reason = answer.message or next((finding.message for finding in mine.findings if finding.is_error), "")
    return Row(manifest.file, manifest.ref, mine.verdict, theirs, reason)


def verdict(answer: Answer, *, waits: bool) -> str:
    """Return the verdict in an answer; if an object `waits` for a namespace of its own tree, a 404 is not a verdict."""
    if answer.accepted:
        return "valid"
    if not answer.concerns_object or (waits and answer.code == NOT_FOUND and answer.message.startswith("namespaces ")):
        return "silent"
    return "invalid"


def render(found: Comparison) -> str:
    """Return the table of differences, and the counts."""
    lines = []
    if found.rows:
        lines.append(LINE.format("ours", "server", "object"))
    for one_row in found.rows:
        lines += [LINE.format(one_row.ours, one_row.server, str(one_row.ref)), f"{'':20}{one_row.file}"]
        lines += [f"{'':20}{one_row.reason}"] if one_row.reason else []
    silent = len(found.rows) - len(found.differences)
    lines.append(
        f"{found.cluster} on Kubernetes {found.server}: {found.agreed} objects with the same verdict, "
        f"{len(found.differences)} with another verdict, {silent} without a verdict of the server; nothing was changed"
    )
    return "\n".join(lines) + "\n"


LINE = "{:<10}{:<10}{}"

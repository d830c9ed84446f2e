"""Compares a cluster's list of prerequisites with the cluster; it only reads, and no value of a Secret is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from trainyard.base.findings import count_of
from trainyard.faces.live import node_answers, webhook_answers
from trainyard.faces.live.seen import METADATA, THERE, WHOLE, Readable, Seen, UnseenError, Verdict
from trainyard.judge.preflight.job.secrets import named_objects
from trainyard.render.prerequisites import Prerequisite, prerequisites
from trainyard.render.prerequisites.page import as_data
from trainyard.render.prerequisites.questions import (
    AllExisting,
    CsiDriver,
    Definitions,
    Existing,
    GpuDriver,
    NodeKernel,
    NodeLabels,
    NodeOffers,
    NodeRelease,
    NodeRuntime,
    PoolNodes,
    Question,
    ServerMinor,
    Webhooks,
)
from trainyard.specs.editing.named import cluster_of
from trainyard.specs.sources import Specs

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DRIVERS = "/apis/storage.k8s.io/v1/csidrivers"


@dataclass(frozen=True, slots=True)
class Row:
    """A prerequisite with what the server shows of it."""

    area: str
    item: Prerequisite
    verdict: Verdict


def compare(specs: Specs, cluster: str, server: Readable) -> list[Row]:
    """Return the prerequisites of a cluster with what the server shows of each.

    What only jobs need that name it is left out where no job does. Raises SpecError where the cluster does not exist,
    and ToolError where the server cannot be read.
    """
    cluster = cluster_of(cluster, specs.clusters)
    seen, named = Seen(server, specs.clusters[cluster].selectors), named_by_jobs(specs, cluster)
    _ = seen.minor
    return [
        Row(area, item, verdict(item, seen))
        for area, items in prerequisites(specs, cluster).items()
        for item in items
        if not item.for_jobs or (isinstance(item.question, Existing) and item.question.path in named)
    ]


def named_by_jobs(specs: Specs, cluster: str) -> frozenset[str]:
    """Return the paths of the Secrets and ConfigMaps that jobs of a cluster name."""
    plurals, described = {"secret": "secrets", "config map": "configmaps"}, specs.clusters[cluster]
    return frozenset(
        f"/api/v1/namespaces/{described.namespace_of(file.team)}/{plurals[what]}/{name}"
        for file in specs.jobs
        if file.job.cluster == cluster and not file.job.retired
        for what, name, _ in named_objects(file.job)
    )


def verdict(item: Prerequisite, seen: Seen) -> Verdict:
    """Return the verdict of the server on a prerequisite."""
    if item.question is None:
        return Verdict("unseen")
    try:
        return ANSWERS[type(item.question)](item.question, seen)
    except UnseenError as reason:
        return Verdict("unseen", str(reason))


def definitions(question: Definitions, seen: Seen) -> Verdict:
    """Look for definitions and the versions that they serve."""
    found = [definition(name, versions, seen) for name, versions in question.versions.items()]
    wrong = [one for one in found if one.word != "there"]
    if question.some:
        none = Verdict("missing", f"none of its {count_of(len(found), 'CustomResourceDefinition')} exists")
        return THERE if len(wrong) < len(found) else none
    return wrong[0] if wrong else THERE


def definition(name: str, versions: tuple[str, ...], seen: Seen) -> Verdict:
    """Look for one definition and the versions that it serves."""
    value = seen.get(f"{DEFINITIONS}/{name}", accept=WHOLE)
    if value is None:
        return Verdict("missing", f"CustomResourceDefinition {name} does not exist")
    served = {version["name"] for version in value["spec"]["versions"] if version.get("served")}
    lacking = [version for version in versions if version not in served]
    return Verdict("missing", f"{name} does not serve {', '.join(lacking)}") if lacking else THERE


def existing(question: Existing, seen: Seen) -> Verdict:
    """Look for an object, and compare its fields."""
    value = seen.get(question.path, accept=WHOLE if question.fields else METADATA)
    if value is None:
        return Verdict("missing", f"{question.kind} {question.name} does not exist")
    for field, wanted in question.fields.items():
        if value.get(field) != wanted:
            return Verdict("missing", f"{question.kind} {question.name} has {field} {value.get(field)}")
    return THERE


def every(question: AllExisting, seen: Seen) -> Verdict:
    """Look for several objects."""
    found = (existing(one, seen) for one in question.objects)
    return next((one for one in found if one.word != "there"), THERE)


def storage(question: CsiDriver, seen: Seen) -> Verdict:
    """Look for a storage driver, and for it on every node of the pools."""
    if seen.get(f"{DRIVERS}/{question.name}") is None:
        return Verdict("missing", f"CSIDriver {question.name} does not exist")
    return node_answers.of_nodes(
        f"{node.name} does not run it"
        for node in seen.of_pools(question.pools)
        if question.name not in seen.storage_nodes.get(node.name, ())
    )


ANSWERS = cast(
    "Mapping[type[Question], Callable[[Question, Seen], Verdict]]",
    {
        ServerMinor: node_answers.minor,
        PoolNodes: node_answers.pool_nodes,
        NodeLabels: node_answers.labels,
        NodeOffers: node_answers.offers,
        NodeRuntime: node_answers.runtime,
        NodeRelease: node_answers.release,
        NodeKernel: node_answers.kernel,
        GpuDriver: node_answers.driver,
        Definitions: definitions,
        Existing: existing,
        AllExisting: every,
        CsiDriver: storage,
        Webhooks: webhook_answers.answer,
    },
)
"""How each question is answered."""


def lines(rows: list[Row], cluster: str) -> Iterator[str]:
    """Yield a line for each prerequisite by area, with what to do about those that are not there, and the counts."""
    area = ""
    for row in rows:
        if row.area != area:
            area = row.area
            yield area
        yield f"  {row.verdict.word:<8} {row.item.what}"
        yield from (f"{'':11}{line}" for line in remedy(row))
    counts = {word: sum(row.verdict.word == word for row in rows) for word in ("there", "missing", "unseen")}
    yield (
        f"{cluster}: {counts['there']} there, {counts['missing']} missing, "
        f"{counts['unseen']} cannot be seen from here; nothing was changed"
    )


def remedy(row: Row) -> Iterator[str]:
    """Yield the state of a prerequisite that is not there, and how to get or see it."""
    if row.verdict.detail:
        yield f"now: {row.verdict.detail}"
    if row.verdict.word == "missing":
        yield f"get: {row.item.get}"
    elif row.verdict.word == "unseen" and row.item.look:
        yield f"look: {row.item.look}"


def table(rows: list[Row], cluster: str) -> list[dict[str, Any]]:
    """Return the same as data."""
    return [
        {**as_data(row.area, row.item, cluster), "verdict": row.verdict.word, "detail": row.verdict.detail}
        for row in rows
    ]

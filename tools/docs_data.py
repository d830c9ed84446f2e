"""Pages made of data: shapes of nodes with a source for each fact, and releases of operators with what they go with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from docs_fields import cell
from docs_held import held_table
from trainyard.base.quantities import Quantity
from trainyard.base.system.data import minors
from trainyard.base.versions import order
from trainyard.render.kinds import kinds
from trainyard.render.kinds.behaviour import EVENTS
from trainyard.render.operators.listing import listing
from trainyard.specs.changes import changes
from trainyard.specs.defects import defects
from trainyard.specs.releases import Compared, Facts, Release, releases
from trainyard.specs.shapes import Shape, names, preset
from trainyard.upstream.apiserver.catalog.releases import CORE

MINORS = minors()
"""Minor versions of Kubernetes that a cluster may have (specs/models/cluster.py)."""

GIGA = 10**9

LINKS = {"ethernet": "Ethernet", "infiniband": "InfiniBand", "either": "Ethernet or InfiniBand"}

SHAPES = """\
These are the presets for `shape` of a [pool](cluster.md#pools). `make docs` writes them from
`platform/trainyard/specs/shapes`. A source *assumed* means that nobody measured or documented the fact, so compare it
with a node (`kubectl get node -o yaml`, `lscpu`, `nvidia-smi topo -m`). Describe other machines
[in the cluster's file](cluster.md#poolsshape)."""

COLUMNS = ("shape", "GPUs", "NICs of the fabric", "NUMA nodes", "CPUs", "memory", "local disk")
"""Of the table of shapes."""

RELEASES = """\
These are the releases that `operators` of a [cluster](cluster.md#operators) may name. `make docs` writes them from
`platform/trainyard/specs/releases` and `schemas/lock.yaml`, and `trainyard releases` prints them. To install another
release, [name a known one that it is like](../clusters.md#operators)."""

KINDS = """\
The kinds that run jobs, and what each does with a run. `make docs` writes this page from the kinds;
`trainyard explain <job> --kind <kind>` compares them for one job.
[Launchers and kinds](../launchers.md) is the guide."""

MATRIX = """\
The newest release that supports a version of Kubernetes. `?` means that the release states no bounds, `–` that no
release supports it."""

DEFECTS = """\
Older releases of these projects have the defect. `trainyard releases --defects` prints the list, and a cluster that
meets one gets a warning (`pairing/known-defect`)."""

CHANGES = """\
What API servers and nodes decide otherwise than in the release before, by the defaults of their feature gates, and
what Argo CD and Karpenter do otherwise. `trainyard releases <project>` prints it.
*Ignored* fields are accepted and left out without a word; `validate` warns of those of gangs (`core/gate-off`)."""

JUDGED = """\
`validate` knows the kinds of these projects. A cluster's file can name those that *can be installed*, and those *with
managed: false*."""


def behaviours() -> Iterator[str]:
    """Yield the page on kinds: a section with the behaviour of each."""
    yield from ("# Kinds", "", *KINDS.splitlines())
    for name, kind in sorted(kinds().items()):
        if type(kind).__module__.startswith("trainyard."):
            yield from ("", f"## {name}", "", "| when | what happens |", "|---|---|")
            yield from (f"| {words} | {cell(getattr(kind.behaviour, field))} |" for field, words in EVENTS.items())


def shapes() -> Iterator[str]:
    """Yield the page on presets of nodes."""
    yield from ("# Node shapes", "")
    yield from (SHAPES, "", f"| {' | '.join(COLUMNS)} |", f"{'|---' * len(COLUMNS)}|")
    for name in names():
        shape = preset(name)
        row = (
            f"[`{name}`](#{name})",
            gpus(shape),
            nics(shape),
            numa(shape),
            f"{shape.cpus}",
            shape.memory,
            shape.ephemeral_storage,
        )
        yield f"| {' | '.join(map(cell, row))} |"
    for name in names():
        yield from ("", f"## {name}", "", "| fact | value | source |", "|---|---|---|")
        yield from (f"| `{field}` | {cell(value)} | {cell(source)} |" for field, value, source in facts(preset(name)))


def gpus(shape: Shape) -> str:
    """Return the GPUs of a node in words."""
    return f"{shape.gpus.count} × {shape.gpus.product}" if shape.gpus else "none"


def nics(shape: Shape) -> str:
    """Return the NICs of the training fabric in words; those that a device plugin of the provider offers, by name."""
    if shape.nics:
        speed = Quantity.parse(shape.nics[0].speed).amount // GIGA
        return f"{len(shape.nics)} × {speed} Gb/s, {LINKS[shape.nics[0].link]}"
    return ", ".join(f"{count} × {name}" for name, count in shape.devices.items()) or "none"


def numa(shape: Shape) -> str:
    """Return how many NUMA nodes there are, those of GPUs' memory too."""
    own = str(len(shape.numa)) if shape.numa else "not said"
    return f"{own} and {shape.gpu_numa} for memory of GPUs" if shape.gpu_numa else own


def facts(shape: Shape) -> Iterator[tuple[str, str, str]]:
    """Yield each fact of a preset that is said, with its source."""
    said = shape.model_dump(by_alias=True, exclude_unset=True)
    for field, value in said.items():
        if field != "sources":
            yield field, "<br>".join(spelled(value)), shape.sources.get(field, "")
    for field, source in shape.sources.items():
        if field not in said:
            yield field, "", source


def spelled(value: Any) -> Iterator[str]:
    """Yield the parts of a fact, one for each item of a list, in the words of YAML."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from spelled(item)
    elif isinstance(value, Mapping):
        yield ", ".join(f"{key} {write_value(entry)}" for key, entry in value.items() if entry not in (None, ()))
    else:
        yield str(value)


def write_value(value: Any) -> str:
    """Return a value within a map."""
    return "/".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def operators(root: Path) -> Iterator[str]:
    """Yield the page on releases of a repository."""
    known, projects = releases(), listing(root / "schemas")
    yield from ("# Releases", "")
    yield from (RELEASES, "", "## By Kubernetes", "", MATRIX)
    yield from ("", f"| operator | {' | '.join(MINORS)} |", f"|---|{'---|' * len(MINORS)}")
    for name in sorted(known):
        yield f"| [`{name}`](#{name}) | {' | '.join(newest(known[name], minor) for minor in MINORS)} |"
    yield from ("", "## What is judged", "", JUDGED)
    yield from ("", "| project | releases | use |", "|---|---|---|")
    for project in projects:
        name = f"[`{project['name']}`](#{project['name']})" if project["name"] in known else f"`{project['name']}`"
        yield f"| {name} | {', '.join(release['version'] for release in project['releases'])} | {project['use']} |"
    yield from ("", "## Held to the real program", "")
    yield from held_table(root, known)
    for name in sorted(known):
        yield from ("", f"## {name}", "")
        yield from operator(known[name])
    yield from (
        "",
        "## Known defects",
        "",
        DEFECTS,
        "",
        "| project | from | before | what happens | issue |",
        "|---|---|---|---|---|",
    )
    for name, found in defects().items():
        for defect in found.defects:
            since, fixed = ", ".join(defect.since), ", ".join(defect.fixed) or "no release yet"
            yield f"| {name} | {since} | {fixed} | {cell(defect.happens)} | {defect.issue} |"
    yield from ("", "## Changes", "", CHANGES)
    for name, found_changes in sorted(changes().items(), key=lambda item: item[0] != CORE):
        for line, changed in found_changes.releases.items():
            yield from ("", f"### {'Kubernetes' if name == CORE else name} {line}", "")
            yield from ("| what | where | how | gate | source |", "|---|---|---|---|---|")
            for change in changed:
                where = f"{change.kind}: `{change.field}`" if change.field else change.kind
                gate = f"`{change.gate}`" if change.gate else ""
                yield f"| {change.word} | {' | '.join(map(cell, (where, change.says, gate, change.source)))} |"


def newest(facts: Facts, minor: str) -> str:
    """Return the newest release that works on a minor version."""
    for version in sorted(facts.releases, key=order, reverse=True):
        kubernetes = facts.releases[version].kubernetes
        oldest, last = kubernetes.oldest, kubernetes.newest
        if (oldest is None or order(oldest) <= order(minor)) and (last is None or order(minor) <= order(last)):
            return version if oldest or last else f"{version} ?"
    return "–"


def operator(facts: Facts) -> Iterator[str]:
    """Yield the facts about one operator, in words."""
    place = facts.chart or facts.manifests
    where = f"chart `{facts.chart.name}` of {facts.chart.repository}" if facts.chart else "objects of ours"
    if facts.manifests and not facts.chart:
        where = f"the kustomization `{facts.manifests.path}` of {facts.manifests.repository}"
    yield f"Namespace `{facts.namespace}`, Pod Security *{facts.pod_security}*; {where if place else 'no chart'}."
    yield ""
    for need in facts.needs:
        where = f", with `{need.value}: {need.equals or 'true'}`" if need.value else ""
        yield f"- Needs [`{need.operator}`](#{need.operator}){where}: {need.why} ({need.source})."
    yield from (
        f"- Not beside [`{exclude.operator}`](#{exclude.operator}): {exclude.why} ({exclude.source})."
        for exclude in facts.excludes
    )
    yield from (f"- Needed by clusters with {uses(need)}: {need.why} ({need.source})." for need in facts.needed_for)
    for one in facts.since:
        what = f"`{one.value}`" if one.value else f"The feature gate `{one.gate}`"
        yield f"- {what} needs Kubernetes {one.kubernetes}: {one.why} ({one.source})."
    for bundle in facts.bundles:
        usual = "on" if bundle.default else "off"
        yield f"- Brings `{bundle.project}` along by `{bundle.switch}`, by default {usual} ({bundle.source})."
    if facts.oldest:
        yield f"- Oldest that can be installed: {facts.oldest.version}, since {facts.oldest.why}."
    for version in sorted(facts.compared, key=order, reverse=True):
        yield compared(version, facts.compared[version])
    yield from ("", "| release | Kubernetes | with at least | source |", "|---|---|---|---|")
    for version in sorted(facts.releases, key=order, reverse=True):
        release = facts.releases[version]
        others = ", ".join(f"{name} {least}" for name, least in release.at_least.items())
        yield f"| {version} | {span(release)} | {others} | {cell(release.source)} |"


def compared(version: str, found: Compared) -> str:
    """Return in words how often our decision was that of a release's own program."""
    differ = f"{found.differ} were decided otherwise" if found.differ else "none was decided otherwise"
    but = f"; {found.but}" if found.but else ""
    return f"- Decisions compared with {version}: {found.cases:,} cases, {differ}{but} (`{found.source}`)."


def uses(use: Any) -> str:
    """Return the parts of a cluster for which an operator is needed."""
    parts = [f"queues of {use.queues}"] if use.queues else []
    parts += [f"`gang: {use.gang}`"] if use.gang else []
    parts += [f"`attach: {' or '.join(use.attach)}`"] if use.attach else []
    parts += [f"a fabric of type `{' or '.join(use.fabric)}`"] if use.fabric else []
    without = f", unless {' or '.join(use.unless)} is there" if use.unless else ""
    return " or ".join(parts) + without


def span(release: Release) -> str:
    """Return the versions of Kubernetes that a release says it works on."""
    oldest, newest_ = release.kubernetes.oldest, release.kubernetes.newest
    if oldest and newest_:
        return f"{oldest} to {newest_}"
    return f"from {oldest}" if oldest else f"up to {newest_}" if newest_ else "not said"

"""Which schema serves a group, version and kind, under a Kubernetes minor and the releases of what is installed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from trainyard.base.findings import Finding, Location, did_you_mean
from trainyard.base.versions import begun, exact
from trainyard.upstream.apiserver.catalog import crd
from trainyard.upstream.apiserver.catalog.overlap import Clash, compare, origin, prefer, served_twice
from trainyard.upstream.apiserver.catalog.releases import CORE, Choice, Shelf, choose
from trainyard.upstream.apiserver.catalog.served import Kind, from_crd, from_index
from trainyard.upstream.workloads.gone import GONE

KUBERNETES = ".k8s.io"
SHARED = frozenset({"k8s.io", "x-k8s.io"})
"""Domains below which many projects have their groups, which have nothing else in common."""
NEAR = 0.85
"""How alike two groups are of which one is taken for a misspelling of the other, as difflib counts it."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Why no schema serves what a manifest says it is, and what it may have meant."""

    message: str


@dataclass(frozen=True)
class Catalog:
    """The kinds of one cluster."""

    kubernetes: str
    projects: Mapping[str, str]
    """Release of each installed project."""
    kinds: Mapping[tuple[str, str], Mapping[str, Kind]]
    """By group and kind, then by version."""
    shelf: Shelf
    others: tuple[Catalog, ...] = ()
    """The same with other definitions of `doubtful` kinds, which inputs describe in several ways."""
    doubtful: frozenset[tuple[str, str]] = frozenset()
    declared: Mapping[str, str] = field(default_factory=dict)
    """Release of each project that somebody named, also where the API types are those of another."""

    @property
    def releases(self) -> Mapping[str, str]:
        """The release of each installed project as it is declared, by which webhooks and controllers decide."""
        return {**self.projects, **{name: self.declared[name] for name in self.projects if name in self.declared}}

    def lookup(self, group: str, version: str, kind: str, gates: Collection[str] = ()) -> Kind | Missing:
        """Return the served kind, or why there is none; `group` of core kinds is empty.

        `gates` are feature gates that are on although they are off by default.
        """
        versions = self.kinds.get((group, kind), {})
        found = versions.get(version)
        if found is not None and (found.served or found.gate in gates):
            return found
        asked = group, version, kind
        if asked not in self._missing:
            self._missing[asked] = Missing(self._why(group, version, kind, versions))
        return self._missing[asked]

    def resource(self, group: str, version: str, plural: str) -> Kind | None:
        """Return the served kind behind a resource name, as RBAC and webhooks write it."""
        return self._resources.get((group, version, plural))

    def served(self) -> Iterator[Kind]:
        """Yield every served version of every kind."""
        return (version for versions in self.kinds.values() for version in versions.values() if version.served)

    def with_crds(self, documents: Iterable[object]) -> Catalog:
        """Return the catalog with the CRDs among the documents added; they win over an installed project's.

        A CRD that takes the name of a kind of Kubernetes' own is accepted by a server and never served.
        """
        kinds = dict(self.kinds)
        core = {key for key, versions in self.kinds.items() if any(version.typed for version in versions.values())}
        for document in documents:
            if isinstance(document, Mapping) and crd.is_crd(document):
                kinds.update({key: versions for key, versions in from_crd(document).items() if key not in core})
        return Catalog(self.kubernetes, self.projects, kinds, self.shelf, declared=self.declared)

    @cached_property
    def _resources(self) -> Mapping[tuple[str, str, str], Kind]:
        return {(kind.group, kind.version, kind.plural): kind for kind in self.served()}

    @cached_property
    def _missing(self) -> dict[tuple[str, str, str], Missing]:
        """What was asked for and is not served: a stranger's folder has one such kind a thousand times."""
        return {}

    @cached_property
    def _groups(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """By group the kinds that are served, with their versions."""
        found: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        for kind in self.served():
            found[kind.group][kind.kind] = (*found[kind.group].get(kind.kind, ()), kind.version)
        return found

    def _why(self, group: str, version: str, kind: str, versions: Mapping[str, Kind]) -> str:
        label = f"{group}/{version} {kind}" if group else f"{version} {kind}"
        if version in versions and (gate := versions[version].gate):
            return f"kind {label!r} needs the feature gate {gate} and --runtime-config={group}/{version}=true"
        if versions:
            served = ", ".join(sorted(one_kind.version for one_kind in versions.values() if one_kind.served)) or "none"
            known = "no longer served" if version in versions else "not a version of it"
            return f"kind {kind!r} of {group or 'core'}: {version!r} is {known}; served: {served}"
        if holders := self.shelf.holders(group, kind):
            return f"kind {label!r} is served by {' or '.join(holders)}, which is not among the installed operators"
        if elsewhere := self._elsewhere(group, kind):
            return f"kind {label!r} does not exist; did you mean {' or '.join(elsewhere)}?"
        if (group, kind) in GONE:
            return f"kind {label!r} {GONE[group, kind]}"
        if of_group := set(self._groups.get(group, ())) or self.shelf.kinds(group):
            near_kind = did_you_mean(kind, of_group)
            if near_kind.startswith("did ") or not is_shared(group):
                return f"kind {label!r} does not exist here; {near_kind}"
        for near in get_close_matches(group, self._groups, n=1, cutoff=NEAR):
            if meant := get_close_matches(kind, self._groups[near], n=1, cutoff=NEAR):
                return f"kind {label!r} does not exist here; did you mean {meant[0]!r} of {near}?"
        return f"kind {label!r} is unknown; add its CRD to the inputs, or use --allow-unknown"

    def _elsewhere(self, group: str, kind: str) -> list[str]:
        """Return the apiVersions that may be meant: of Kubernetes' own kinds of that name, and of groups near by."""
        near = {*get_close_matches(group, self._groups, n=3, cutoff=NEAR)}
        near |= {
            one_group for one_group in self._groups if is_beneath(one_group, group) or is_beneath(group, one_group)
        }
        own = "." not in group or group.endswith(KUBERNETES)
        named = (one_kind for one_kind in self.served() if one_kind.kind == kind)
        return sorted(
            {one_kind.api_version for one_kind in named if one_kind.group in near or (own and one_kind.typed)}
        )


def is_shared(group: str) -> bool:
    """Whether several projects have kinds in a group: Argo CD, Argo Workflows, Argo Rollouts and Argo Events do."""
    return group == "argoproj.io"


def is_beneath(group: str, other: str) -> bool:
    """Whether a group is a subdomain of another, as `trainer.kubeflow.org` of `kubeflow.org`; not of a bare domain."""
    return other.count(".") > 0 and other not in SHARED and group.endswith(f".{other}")


def is_line(said: str, known: Collection[str]) -> bool:
    """Whether somebody named a line, such as 1.14, and not a release: the newest that is known stands for it."""
    newest = begun(said, known)
    return newest is not None and not exact(said, newest)


def load(
    folder: Path,
    *,
    kubernetes: str | None = None,
    projects: Mapping[str, str] | None = None,
    without: Mapping[str, Collection[str]] | None = None,
    declared: Mapping[str, str] | None = None,
    where: Callable[[str], Location] = lambda _: Location("--with"),
) -> tuple[Catalog, list[Finding]]:
    """Open `schemas/` for a Kubernetes release and the projects installed; without them, the newest known of each.

    A release that is not carried takes the nearest one of its project, with a warning. `without` has definitions, by
    project, that are not installed with it. `declared` has releases by whose webhooks objects are judged where they are
    not those of `projects`. `where` says where a project (or `kubernetes`) was chosen.
    """
    shelf = Shelf(folder)
    minor, findings = choose(shelf, CORE, kubernetes, where)
    chosen = [minor] if minor else []
    for project in shelf.projects() if projects is None else projects:
        choice, found = choose(shelf, project, projects[project] if projects else None, where)
        findings += found
        chosen += [choice] if choice else []
    kinds: dict[tuple[str, str], dict[str, Kind]] = {}
    clashes: dict[tuple[Choice, Choice], list[Clash]] = defaultdict(list)
    for choice in chosen:
        for key, versions in from_index(shelf, choice).items():
            left = (without or {}).get(choice.project, ())
            if any(f"{version.plural}.{version.group}" in left for version in versions.values()):
                continue
            other = kinds.get(key)
            if other is None:
                kinds[key] = versions
            else:
                kinds[key] = prefer(other, versions)
                if projects is not None and (clash := compare(other, versions)) is not None:
                    clashes[origin(other), choice].append(clash)
    findings += [served_twice(pair, found, where) for pair, found in clashes.items()]
    installed = {choice.project: choice.release for choice in chosen if choice.project != CORE}
    named = {**(projects or {}), **(declared or {})}
    told = {name: said for name, said in named.items() if said and not is_line(said, shelf.releases(name))}
    return Catalog(minor.release if minor else "", installed, kinds, shelf, declared=told), findings

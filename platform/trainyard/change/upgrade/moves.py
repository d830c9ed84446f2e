"""Which operators of a cluster get which releases, the one that is asked for and those that must go along, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from trainyard.base.findings import Finding, Path, choices_text, did_you_mean
from trainyard.base.versions import exact, line, order
from trainyard.change.upgrade.rules import ABSENT, DIGESTS, ORDER
from trainyard.specs import Cluster
from trainyard.specs.releases import Facts, Release, releases
from trainyard.specs.sources import Source
from trainyard.upstream.apiserver.catalog.releases import CORE, UNKNOWN, UNKNOWN_RELEASE, not_known

ARGOCD = "argo-cd"
"""The project whose release is a field of its own."""

NAMED = 3
"""Operators that a message lists."""


@dataclass(frozen=True, slots=True)
class Move:
    """One operator that gets another release."""

    operator: str
    before: str
    after: str
    managed: bool = True
    """False where somebody else installs it."""
    why: str = ""
    """Which other release needs it, in words; empty for the one that is asked for."""
    like: str = ""
    """The known release that the one before is said to be like; empty where it is known itself."""

    @property
    def known_before(self) -> str:
        """The release by which the one before is judged."""
        return self.like or self.before

    @property
    def path(self) -> Path:
        """Where the cluster's file has the release."""
        return version_path(self.operator)

    @property
    def back(self) -> bool:
        """Whether the new release is older than the one before."""
        return order(self.after) < order(self.before)


def version_path(operator: str) -> Path:
    """Return where a cluster's file has the release of an operator."""
    return ("argocd", "version") if operator == ARGOCD else ("operators", operator, "version")


def chosen(cluster: Cluster) -> dict[str, str]:
    """Return the releases that a cluster runs, by operator."""
    return {name: version for name, (version, _) in cluster.chosen().items()}


def find_moves(
    cluster: Cluster, name: str, source: Source, operator: str, version: str
) -> tuple[tuple[Move, ...], list[Finding]]:
    """Return the operators that get another release, in order, or the findings that forbid it.

    `name` is the cluster's, `source` its file. Nothing is returned where the cluster runs the release already.
    """
    wrong = list(check_names(cluster, name, source, operator, version))
    if wrong:
        return (), wrong
    release = releases()[operator].known_release(version) or version
    there = chosen(cluster)
    if exact(there[operator], release):
        return (), []
    managed = cluster.installs(operator)
    moves = {operator: Move(operator, there[operator], release, managed, like=like(cluster, operator))}
    missing = list(follow(cluster, moves))
    if missing:
        return (), [refuse(source, operator, release, missing, name)]
    found = tuple(in_order(cluster, moves))
    return found, list(check_digests(cluster, source, found))


def check_names(cluster: Cluster, name: str, source: Source, operator: str, version: str) -> Iterator[Finding]:
    """Yield an operator that is unknown or not on the cluster, or a release of it that is unknown."""
    facts = releases().get(operator)
    here = chosen(cluster)
    if operator == CORE:
        message = (
            f"Kubernetes is no operator; write kubernetes: {line(version)!r} into the file, then run synth and plan"
        )
        yield ABSENT.at(source, (CORE,), message)
    elif facts is None:
        near = did_you_mean(operator, here)
        yield UNKNOWN.at(source, ("operators",), f"operator {operator!r} does not exist in Trainyard; {near}", key=True)
    elif operator not in here:
        message = f"cluster {name!r} has no operator {operator!r}; {choices_text(sorted(cluster.operators), NAMED)}"
        yield ABSENT.at(source, ("operators",), message, key=True)
    elif facts.known_release(version) is None:
        path = version_path(operator)
        near = facts.nearest(version) if order(version) > (0, 0, 0, 0) else facts.newest_first[0]
        fix = f"use {near}, or write unlisted into the file by hand"
        yield UNKNOWN_RELEASE.at(source, path, not_known(operator, version, facts.releases), fix=fix)


def check_digests(cluster: Cluster, source: Source, moves: tuple[Move, ...]) -> Iterator[Finding]:
    """Yield digests of images that stay those of the release before."""
    for move in moves:
        choice = cluster.operators.get(move.operator)
        if choice is not None and choice.digests:
            first = next(iter(choice.digests))
            message = f"digests of {move.operator} are of images of {move.before}, such as {first!r}; remove them"
            yield DIGESTS.at(source, ("operators", move.operator, "digests"), message, key=True)


def follow(cluster: Cluster, moves: dict[str, Move]) -> Iterator[Move]:
    """Add the operators that must go along to the moves; yield those that cannot, with the release that they need."""
    while True:
        need = next(needs(cluster, moves), None)
        if need is None:
            return
        if need.operator in moves or not need.managed or not need.after:
            yield need
            return
        moves[need.operator] = need


def needs(cluster: Cluster, moves: Mapping[str, Move]) -> Iterator[Move]:
    """Yield operators whose release is too old for one of the others, each with the oldest release that would do.

    What was too old before the upgrade is not its doing.
    """
    there = chosen(cluster)
    after = {name: moves[name].after if name in moves else version for name, version in there.items()}
    for name, version in after.items():
        facts = releases().get(name)
        release = facts_of(facts, version, cluster, name) if facts else None
        for other, oldest in (release.at_least if release else {}).items():
            if other not in cluster.operators or order(after[other]) >= order(oldest):
                continue
            if name not in moves and other not in moves:
                continue
            choice = cluster.operators[other]
            least = oldest_that_does(releases()[other], oldest, cluster.minor) if other in releases() else None
            why = f"{name} {version} needs {oldest} or newer"
            after_all = least or ("" if choice.managed else oldest)
            yield Move(other, there[other], after_all, choice.managed, why, like(cluster, other))


def like(cluster: Cluster, operator: str) -> str:
    """Return the known release that an operator's release is said to be like; empty where nothing is said."""
    choice = cluster.operators.get(operator)
    return choice.unlisted.like if choice and choice.unlisted else ""


def facts_of(facts: Facts, version: str, cluster: Cluster, name: str) -> Release:
    """Return the facts of the release that an operator has, or that it is said to be like."""
    stays = name in cluster.operators and cluster.operators[name].version == version
    return facts.near((like(cluster, name) if stays else "") or version)


def oldest_that_does(facts: Facts, oldest: str, minor: str) -> str | None:
    """Return the oldest known release from one on that supports a minor version of Kubernetes."""
    return next((version for version in supporting(facts, minor) if order(version) >= order(oldest)), None)


def supporting(facts: Facts, minor: str) -> Iterator[str]:
    """Yield the known releases that support a minor version of Kubernetes, the oldest first."""
    yield from (one for one in sorted(facts.releases, key=order) if facts.releases[one].kubernetes.has(minor))


def refuse(source: Source, operator: str, version: str, missing: list[Move], cluster: str) -> Finding:
    """Return the finding on an upgrade that no order of known releases makes work, or with the order that does."""
    (first, *_) = missing
    again = f"trainyard upgrade {cluster} {operator} {version}"
    if first.operator == operator or not first.after:
        message = f"{operator} cannot be {version}: {first.why} of {first.operator}"
        fix = f"upgrade to another release of {operator}; trainyard releases {operator} lists what each goes with"
    else:
        message = f"{first.why} of {first.operator}, which others install (managed: false)"
        fix = f"have {first.operator} {first.after} installed, then run trainyard upgrade {cluster} "
        fix += f"{first.operator} {first.after}, then {again}"
    return ORDER.at(source, version_path(first.operator), message, fix=fix)


def in_order(cluster: Cluster, moves: Mapping[str, Move]) -> Iterator[Move]:
    """Yield the moves so that each operator comes after those that it needs, else in the order of the file."""
    try:
        yield from (moves[name] for name in TopologicalSorter(ahead_of(cluster, moves)).static_order())
    except CycleError:  # two that need each other's new release, as Kueue and Trainer: those asked for come last
        yield from sorted(moves.values(), key=lambda move: not move.why)


def ahead_of(cluster: Cluster, moves: Mapping[str, Move]) -> dict[str, set[str]]:
    """Return the moved operators in the order of the file, each with those of them that come before it."""
    found = {}
    for name in (one for one in chosen(cluster) if one in moves):
        facts = releases()[name]
        wanted = {need.operator for need in facts.needs} | set(facts.near(moves[name].after).at_least)
        found[name] = (wanted & moves.keys()) - {name}
    return found


def together(cluster: Cluster, moves: Mapping[str, Move]) -> bool:
    """Whether two of the moves need each other, so that no order of single steps works."""
    try:
        TopologicalSorter(ahead_of(cluster, moves)).prepare()
    except CycleError:
        return True
    return False

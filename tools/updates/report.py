"""The report of an update, in Markdown, which is also the message of its commit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from updates.changes import Change
from updates.clusters import Findings
from updates.registries import Answer

SECTIONS = (
    ("API versions", ("new API version", "removed API version", "API version")),
    ("New fields", ("new field",)),
    ("Removed fields", ("removed field",)),
    ("Rules in CEL", ("new rule", "removed rule")),
    ("Webhooks", ("webhook", "new webhook", "removed webhook")),
    ("Defaults of fields", ("default",)),
    ("Limits of fields", ("limit",)),
    ("Values of charts", ("new value", "removed value", "changed value")),
)
"""Sections about a release, with the words of the changes that are in each."""
LINES = 40
"""Changes of a section that are listed; of more, the first ones."""


@dataclass
class Learned:
    """A release that was imported: what it changes, and what our own clusters make of it."""

    project: str
    old: str
    new: str
    changes: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    objects: dict[str, int] = field(default_factory=dict)
    """Objects that are rendered otherwise, by cluster."""
    clusters: list[str] = field(default_factory=list)
    """Files of clusters that were tried with the release."""
    rendered: bool = True
    """Whether the clusters could be rendered with it; errors stop that."""
    appeared: Findings = field(default_factory=Findings)
    gone: Findings = field(default_factory=Findings)


@dataclass
class Report:
    """All that an update found."""

    answers: list[Answer]
    learned: list[Learned]
    appeared: Findings = field(default_factory=Findings)
    """Findings on clusters as they are that come with the import alone."""
    gone: Findings = field(default_factory=Findings)
    left: list[str] = field(default_factory=list)
    """Releases that exist and were not imported, each with the reason."""
    asked: list[str] = field(default_factory=list)
    """Tables of the real programs that were asked."""

    def subject(self) -> str:
        """Return the first line of the commit."""
        names = [f"{release.project} {release.new}" for release in self.learned]
        full = f"Learn {', '.join(names)}"
        return full if len(full) <= 72 else f"Learn {len(names)} releases"

    def text(self) -> str:
        """Return the report."""
        return "\n".join(self.lines()).rstrip() + "\n"

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report."""
        yield from ("# New releases", "", "| project | known | new |", "|---|---|---|")
        yield from (f"| {release.project} | {release.old} | {release.new} |" for release in self.learned)
        yield from self.registries()
        yield from ("", "## Our clusters and jobs as they are", "")
        yield from findings(self.appeared, self.gone, "Nothing is judged otherwise.")
        for release in self.learned:
            yield from of_release(release)
        if self.asked:
            yield from ("", "## The real programs", "", "```text", *self.asked, "```")

    def registries(self) -> Iterator[str]:
        """Yield the releases that were not imported, and the registries that could not be asked."""
        without = [answer for answer in self.answers if answer.newest and not answer.has_files]
        left = [
            f"{answer.project.name} {answer.newest}: {answer.registry} lists it, without files" for answer in without
        ]
        if left or self.left:
            yield from ("", "## Not imported", "", *(f"- {reason}" for reason in [*left, *self.left]))
        silent: dict[str, list[str]] = {}
        for answer in self.answers:
            if answer.error:
                silent.setdefault(f"{answer.registry}: {reason_of(answer)}", []).append(answer.project.name)
        if silent:
            yield from ("", "## Not asked", "")
            yield from (f"- {why}: {', '.join(names)}" for why, names in silent.items())


def reason_of(answer: Answer) -> str:
    """Return why a registry could not be asked, without the address of one repository."""
    return re.sub(r"'\S+': ", "", answer.error)


def of_release(release: Learned) -> Iterator[str]:
    """Yield the lines on one release."""
    yield from ("", f"## {release.project} {release.new}", "")
    yield f"Compared with {release.old}."
    if release.notes:
        yield from ("", "To do by hand:", "", *(f"- {note}" for note in release.notes))
    for title, words in SECTIONS:
        chosen = [change for change in release.changes if change.word in words]
        if chosen:
            lines = list(grouped(chosen))
            yield from ("", f"### {title}", "", *lines[:LINES])
            if len(lines) > LINES:
                yield f"- and {len(lines) - LINES} more"
    if not release.changes:
        yield from ("", "Neither its API types nor the values of its charts changed.")
    yield from ("", "### Our clusters with it", "")
    if not release.clusters:
        yield "No cluster names the project."
        return
    yield f"Tried with {', '.join(release.clusters)}."
    objects = [f"{count} objects of {cluster}" for cluster, count in sorted(release.objects.items())]
    if release.rendered:
        yield f"Rendered otherwise: {', '.join(objects) or 'nothing'}."
    else:
        yield "Nothing could be rendered, because of the errors below."
    yield ""
    yield from findings(release.appeared, release.gone, "Nothing is judged otherwise.")


def grouped(changes: Iterable[Change]) -> Iterator[str]:
    """Yield a line for each change; one that a kind has in several places, as templates do, is told once."""
    places: dict[tuple[str, str, str, str], list[str]] = {}
    for change in changes:
        kind, _, path = change.where.rpartition(" ")
        name = path.partition(".")[0]
        last = ".".join(path.split(".")[-2:])
        places.setdefault((change.word, f"{kind} {name}", last, change.says), []).append(change.where)
    for (word, _, _, says), found in places.items():
        more = f" and {len(found) - 1} more places" if len(found) > 1 else ""
        yield f"- {word}: {found[0]}{more}" + (f": {says}" if says else "")


def findings(appeared: Findings, gone: Findings, none: str) -> Iterator[str]:
    """Yield the findings that come and go."""
    if not appeared and not gone:
        yield none
    for word, found in (("new", appeared), ("gone", gone)):
        yield from (f"- {word}: {' '.join(words)}" for words in marked(found))


def marked(found: Findings) -> Iterable[tuple[str, str, str, str]]:
    """Return findings in order, with the rule as code."""
    return [(severity, f"`{rule}`", file, message) for severity, rule, file, message in sorted(found)]

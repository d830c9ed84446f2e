"""How a report is shown: by which command, with colours or not, and where the lines that it quotes come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainyard.base.findings import Finding, Location
from trainyard.judge.checks.result import place

if TYPE_CHECKING:
    from trainyard.change.plan import Plan

Lines = Callable[[str], Sequence[str]]
"""The lines of a file by its name in findings; nothing where it cannot be read."""


@dataclass(frozen=True, slots=True)
class View:
    """What a report needs to know beside the result."""

    command: str = "validate"
    plan: Plan | None = None
    """What a change does, where the command says that."""
    lines: Lines = lambda _: ()
    everything: bool = False
    """Whether a plan leaves nothing out for its length."""
    colour: bool = False
    quiet: bool = False
    """Findings and nothing else."""
    summary: bool = False
    """How often each rule was broken, in place of the findings."""
    verbose: bool = False
    """Whether ignored findings, rules that lacked what they need, and files that are no manifests are listed."""
    strict: bool = False
    """Whether warnings fail."""
    files: int = 0
    """How many files were named, where they are what is counted and not objects."""
    files_at: str = ""
    """Address of the commit's files, to which their paths are added; nothing where nobody knows it."""
    pictures: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    """Pictures of clusters, each with its title and path, for a report that links them."""
    pages: str = ""
    """Address of the page that lists the rules, with an anchor for each; nothing where none is published."""

    def page(self, rule: str) -> str | None:
        """Return the address of what is written about a rule."""
        return f"{self.pages}#{anchor(rule)}" if self.pages else None


def anchor(rule: str) -> str:
    """Return the anchor of a rule in docs/rules.md: GitHub, GitLab and the site leave slashes of headings out.

    >>> anchor("spec/gpus-per-node")
    'specgpus-per-node'
    """
    return rule.replace("/", "")


def shown_place(finding: Finding, view: View) -> Location:
    """Return the place that a text names first: `validate` is asked about the files that it is given."""
    return finding.location if view.command == "validate" else place(finding)


def hidden(findings: Iterable[Finding]) -> frozenset[tuple[str, int | None]]:
    """Return the lines, by file and number, that no report shows, since a finding says so."""
    return frozenset(
        (where.file, where.line)
        for finding in findings
        if finding.hide
        for where in (finding.location, finding.spec)
        if where
    )

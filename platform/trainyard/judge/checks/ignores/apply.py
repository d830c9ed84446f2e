"""Takes the findings that somebody ignores out of a result, and makes policies advice outside a repository of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from trainyard.base.documents.comments import IGNORE, SEEN
from trainyard.base.findings import Finding, Location, Severity
from trainyard.base.rules import may_accept
from trainyard.judge.checks.ignores import comments as reading
from trainyard.judge.checks.ignores.comments import Comment
from trainyard.judge.checks.ignores.names import Names, fits
from trainyard.judge.checks.ignores.settings import Folders
from trainyard.judge.checks.result import Ignored, Result
from trainyard.upstream.apiserver.neighbours import POLICY

Decide = Callable[[Finding], Ignored | None]
"""Returns how a finding is ignored, None where it is not."""


@dataclass(slots=True)
class Accepted:
    """What is ignored in the files of one run: by their comments, and by settings above them."""

    folders: Folders = field(default_factory=Folders)
    comments: list[Comment] = field(default_factory=list)
    _by_rule: dict[tuple[str, str], list[Comment]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    """What is wrong with comments."""

    def read(self, inputs: Iterable[tuple[str, bytes]]) -> None:
        """Take the comments of files, where they count."""
        for name, data in inputs:
            if SEEN.search(data.replace(b"\0", b"")) and not self.folders.is_own(name):
                found, wrong = reading.read(name, data)
                self.comments += found
                for comment in found:
                    for rule in comment.rules:
                        self._by_rule.setdefault((name, rule), []).append(comment)
                self.findings += wrong

    def apply(self, result: Result, advice: Callable[[], Iterable[str]], names: Names) -> None:
        """Weigh the findings of a result, and take those out that are ignored; `advice` returns the ids of policies."""
        policies = frozenset(advice()) if result.findings else frozenset()
        result.findings = [self.weighed(finding, policies) for finding in result.findings]
        take_out(result, self.by_comment)
        unasked = frozenset(skipped.rule for skipped in result.skipped)
        about = [*self.findings, *self.unneeded(result, names, unasked)]
        result.add(self.weighed(finding, policies) for finding in about)
        take_out(result, self.by_settings)
        for settings in self.folders.all():
            result.add(settings.findings)
            result.add(settings.wrong_names(names))

    def weighed(self, finding: Finding, policies: frozenset[str]) -> Finding:
        """Return a finding with the weight that it has in its file."""
        name = finding.location.file
        level = self.level(finding)
        if level is not None and level[0] != "off":
            return replace(finding, severity=Severity(level[0]))
        advises = finding.is_error and finding.rule in policies and self.folders.is_outside(name)
        return replace(finding, severity=Severity.WARNING) if advises else finding

    def level(self, finding: Finding) -> tuple[str, Location] | None:
        """Return the level of a finding's rule in its file, and where settings say so."""
        name = finding.location.file
        settings = self.folders.settings(name)
        return None if settings is None else settings.level(finding.rule, self.folders.path(name))

    def by_settings(self, finding: Finding) -> Ignored | None:
        """Return that settings switch a finding's rule off."""
        level = self.level(finding)
        return Ignored(finding, "settings", level[1]) if level is not None and level[0] == "off" else None

    def by_comment(self, finding: Finding) -> Ignored | None:
        """Return that a comment ignores a finding."""
        for comment in self._by_rule.get((finding.location.file, finding.rule), ()):
            if comment.is_about(finding.location.line):
                comment.used.add(finding.rule)
                return Ignored(finding, "comment", comment.location, comment.reason)
        return None

    def unneeded(self, result: Result, names: Names, unasked: frozenset[str]) -> Iterator[Finding]:
        """Yield a finding for each name in a comment that is no rule, or whose rule was asked and finds nothing."""
        lines: dict[tuple[str, str], int | None] = {}
        for finding in result.findings:
            lines.setdefault((finding.location.file, finding.rule), finding.location.line)
        for comment in self.comments:
            for rule in (rule for rule in comment.rules if rule not in comment.used):
                if rule.endswith("*"):
                    yield IGNORE.of(comment.location, f"comment has {rule!r}; name each rule, separated by commas")
                elif (problem := names.problem(rule)) is not None:
                    yield IGNORE.of(comment.location, problem)
                elif rule not in unasked:
                    yield IGNORE.of(comment.location, unused(rule, comment, lines), severity=Severity.WARNING)


def unused(rule: str, comment: Comment, lines: Mapping[tuple[str, str], int | None]) -> str:
    """Return the sentence on a comment without effect; `lines` are those of findings, by file and rule."""
    place = "this line" if comment.first == comment.last else "this file" if comment.first == 1 else "this document"
    line = lines.get((comment.location.file, rule))
    remedy = f"its finding is on line {line}; move the comment there" if line else "remove it from the comment"
    return f"rule {rule!r} has no finding for {place}; {remedy}"


def take_out(result: Result, decide: Decide) -> None:
    """Take the findings out of a result that are ignored."""
    left: list[Finding] = []
    for finding in result.findings:
        ignored = decide(finding)
        if ignored is None:
            left.append(finding)
        else:
            result.ignored.append(ignored)
    result.findings = left


def known_names(result: Result) -> set[str]:
    """Return the rules that have no declaration: policies among the objects, and what their findings name."""
    policies = {obj.object.name for obj in result.objects if obj.object.kind == POLICY}
    return policies | {finding.rule for finding in result.findings}


def by_option(given: Sequence[str], names: Names, folders: Folders) -> Decide:
    """Return the decision of an option: it ignores everything outside, and inside what may be waived."""

    def decide(finding: Finding) -> Ignored | None:
        name = next((name for name in given if fits(name, finding.rule)), None)
        is_ignored = name is not None and may_ignore(finding, names, folders)
        return Ignored(finding, "option", reason=f"--ignore {name}") if is_ignored else None

    return decide


def may_ignore(finding: Finding, names: Names, folders: Folders) -> bool:
    """Say whether an option or a baseline may ignore a finding."""
    rule = names.rule(finding.rule)
    if folders.is_outside(finding.location.file):
        return rule is None or not rule.is_about_waivers
    return may_accept(rule, finding)

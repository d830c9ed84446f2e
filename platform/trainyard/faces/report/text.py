"""The report for a terminal: one problem a paragraph, the line to edit first, a count at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from trainyard.base.findings import Finding, Severity, Skipped, arrange
from trainyard.faces.report.below import lines_below
from trainyard.faces.report.excerpt import excerpt
from trainyard.faces.report.view import View, hidden, shown_place
from trainyard.judge.checks.deciders import decider
from trainyard.judge.checks.result import Change, ChangeWord, Ignored, Other, Result, Unrendered, place
from trainyard.judge.checks.twice import group_findings

FEW = 10
"""So many findings are read one by one, and without a table of their rules."""
PLACES = 5
"""So many further places are named of what is found over and over."""
WIDTH = max(len(word) for word in get_args(ChangeWord))
"""Of the column of words."""

PLAIN = View()

BOLD, RED, YELLOW, BLUE = "1", "1;31", "1;33", "1;34"
"""What a terminal is told by `ESC [ … m` (ECMA-48)."""

WEIGHTS = {Severity.ERROR: RED, Severity.WARNING: YELLOW}


def render(result: Result, view: View = PLAIN) -> str:
    """Return the report as text; without colours a pipe gets the same bytes as a terminal."""
    if view.summary:
        return (
            "\n".join([*by_rule([finding for finding, _ in arrange(result.findings)], view), closing(result, view)])
            + "\n"
        )
    blocks = paragraphs(result.findings, view)
    if result.changes is not None and not view.quiet:
        blocks.append("\n".join(changes(result.changes)))
    if not view.quiet:
        blocks += notices(result, view)
        roots = [finding for finding, _ in arrange(result.findings)]
        if len(roots) > FEW:
            blocks.append("\n".join(by_rule(roots, view)))
        blocks.append(closing(result, view))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def notices(result: Result, view: View = PLAIN) -> Iterator[str]:
    """Yield the notices on ignored findings, skipped checks, files that were not checked, and assumptions."""
    if result.ignored and view.verbose:
        yield "\n".join(ignored(result.ignored))
    if shown := [skip for skip in result.skipped if view.verbose or not skip.partial]:
        yield "\n".join(skipped(shown))
    if result.unrendered:
        yield "\n".join(unrendered(result.unrendered))
    if result.others:
        yield "\n".join(others_found(result.others, view))
    if left := result.passed - Counter({other.what: result.passed[other.what] for other in result.others}):
        yield passed(left)
    if result.notes:
        yield "\n".join(result.notes)


def paragraphs(findings: Sequence[Finding], view: View = PLAIN) -> list[str]:
    """Return findings in their order, each with the line that it is about; of many, what is equal once."""
    secret = hidden(findings)
    arranged = arrange(findings)
    below = {id(finding): followers for finding, followers in arranged}
    roots = [finding for finding, _ in arranged]
    groups = [[finding] for finding in roots] if len(roots) <= FEW else group_findings(roots)
    return ["\n".join([*paragraph(some[0], view, secret, below[id(some[0])]), *others(some, view)]) for some in groups]


def others(alike: Sequence[Finding], view: View = PLAIN) -> Iterator[str]:
    """Yield the places of findings that say what the first of them does."""
    first, *more = alike
    for twin in more[:PLACES]:
        about = f" in {twin.object}" if twin.object and twin.object != first.object else ""
        yield f"  also {shown_place(twin, view)}{about}"
    if len(more) > PLACES:
        yield f"  also in {plural(len(more) - PLACES, 'other place')}"


def skipped(found: Sequence[Skipped]) -> Iterator[str]:
    """Yield a line for every reason for which rules were not asked."""
    for why in dict.fromkeys(skip.why for skip in found):
        yield f"skipped {', '.join(dict.fromkeys(skip.rule for skip in found if skip.why == why))}: {why}"


def ignored(found: Sequence[Ignored]) -> Iterator[str]:
    """Yield a line for each ignored finding: where it is, what ignores it, and why."""
    for item in sorted(found, key=lambda item: item.finding.order):
        yield f"ignored {place(item.finding)}: {item.finding.message} [{item.finding.rule}] by {how(item)}"


def how(item: Ignored) -> str:
    """Return the comment, setting, option or baseline that ignores a finding, and the reason."""
    where = f" {item.where}" if item.where is not None else ""
    reason = f": {item.reason}" if item.reason else ""
    return f"{item.way}{where}{reason}"


def unrendered(found: Sequence[Unrendered]) -> Iterator[str]:
    """Yield how charts and kustomizations are judged, the folders of one program together."""
    for tool in dict.fromkeys(item.tool for item in found):
        some = [item for item in found if item.tool == tool]
        if len(some) == 1:
            yield f"not checked; render it first: {some[0].command}"
            continue
        yield f"not checked; render each FOLDER first: {replace(some[0], folder='FOLDER').command}"
        yield from (f"  {item.folder}" for item in some)


def others_found(found: Sequence[Other], view: View) -> Iterator[str]:
    """Yield how many files are no manifests, by what they are, and all of them where somebody wants to see them."""
    counts = Counter(other.what for other in found)
    words = (f"{count} {what if count == 1 else in_plural(what)}" for what, count in counts.items())
    files = len({other.file for other in found})
    are = "1 file is not a manifest" if files == 1 else f"{files} files are not manifests"
    yield f"{are}: {', '.join(words)}{'' if view.verbose else '; -v lists them'}"
    if view.verbose:
        yield from (f"  {other.file}: {other.what}" for other in found)


def passed(counts: Mapping[str, int]) -> str:
    """Return the line on what was left out."""
    words = (f"{count} {what if count == 1 else in_plural(what)}" for what, count in counts.items())
    return f"not checked: {', '.join(words)}"


def in_plural(what: str) -> str:
    """Return words with their noun in the plural: the first, unless a proper name precedes it."""
    if what[0].isupper():
        return f"{what}s"
    head, space, rest = what.partition(" ")
    return f"{head}{'es' if head.endswith('ch') else 's'}{space}{rest}"


def paragraph(
    finding: Finding,
    view: View = PLAIN,
    secret: frozenset[tuple[str, int | None]] = frozenset(),
    followers: Sequence[Finding] = (),
) -> Iterator[str]:
    """Yield the lines of one finding and of what follows from it; the lines of files in `secret` are not shown."""
    frozen = ", frozen" if finding.frozen else ""
    rule = link(finding.rule, view)
    weight = paint(str(finding.severity), WEIGHTS[finding.severity], view)
    head, where = shown_place(finding, view), place(finding)
    yield f"{paint(str(head), BOLD, view)}: {weight}: {finding.message} [{rule}{frozen}]"
    told = finding.object is None or finding.object.kind != "Secret"
    if told and not finding.hide and (where.file, where.line) not in secret:
        for margin, text in excerpt(where, view.lines, broken=finding.layer == "decode"):
            mark = not text.strip("^ ")
            line = paint(text, WEIGHTS[finding.severity], view) if mark else text
            yield f"{paint(margin, BLUE, view)}{line}".rstrip()
    about = [str(part) for part in (finding.object, finding.path) if part]
    if about:
        yield f"  in {', '.join(about)}"
    if view.verbose and finding.is_error and (who := decider(finding)):
        yield f"  refused by the {who}"
    if head != finding.location:
        yield f"  seen at {finding.location}"
    elif finding.spec is not None and finding.spec != head:
        yield f"  from {finding.spec}"
    if finding.fix:
        yield f"  {paint('fix', BOLD, view)}: {finding.fix}"
    for line in lines_below(finding, followers):
        yield f"  {line}"


def paint(text: str, code: str, view: View) -> str:
    """Return a text in a colour, where there are colours."""
    return f"\x1b[{code}m{text}\x1b[0m" if view.colour and text else text


def link(rule: str, view: View) -> str:
    """Return a rule as a link to its page, which terminals show as the rule alone; only where there are colours."""
    page = view.page(rule)
    return f"\x1b]8;;{page}\x1b\\{rule}\x1b]8;;\x1b\\" if page and view.colour else rule


def by_rule(findings: Sequence[Finding], view: View = PLAIN) -> Iterator[str]:
    """Yield a line for each rule that was broken, the most frequent first, errors before warnings."""
    counts = Counter((finding.severity, finding.rule) for finding in findings)
    width = max((len(str(count)) for count in counts.values()), default=0)
    order = sorted(counts.items(), key=lambda item: (item[0][0] is Severity.WARNING, -item[1], item[0][1]))
    for (severity, rule), count in order:
        files = len(
            {place(finding).file for finding in findings if (finding.severity, finding.rule) == (severity, rule)}
        )
        weight = paint(str(severity), WEIGHTS[severity], view)
        yield f"{count:>{width}} {weight} {link(rule, view)} in {plural(files, 'file')}"


def changes(found: Sequence[Change]) -> Iterator[str]:
    """Yield the number of changes by sort, and a line for each changed object."""
    counts = Counter(change.word if change.changed else "unchanged" for change in found)
    words = [*get_args(ChangeWord), "unchanged"]
    yield f"changes: {', '.join(f'{counts[word]} {word}' for word in words if counts[word]) or 'none'}"
    for change in sorted(
        (change for change in found if change.changed), key=lambda one_change: (one_change.file, one_change.document)
    ):
        fields = ", ".join(change.fields) + (f" and {change.more} more" if change.more else "")
        yield f"  {change.word:<{WIDTH}} {change.object} ({change.file}){f': {fields}' if fields else ''}"
        if change.why:
            yield f"  {'':<{WIDTH}} {change.why}"


def closing(result: Result, view: View = PLAIN) -> str:
    """Return the last line: how many objects, how they were judged, how many findings."""
    counts = result.summary()
    verdicts = ", ".join(f"{counts[name]} {name}" for name in ("valid", "invalid", "unknown") if counts[name])
    errors, warnings = plural(counts["errors"], "error"), plural(counts["warnings"], "warning")
    found = f"{paint(errors, RED, view) if counts['errors'] else errors}, {warnings}{following(result.following)}"
    found += f", {len(result.ignored)} ignored" if result.ignored else ""
    if view.files and not counts["objects"]:
        return f"{plural(view.files, 'file')}: {found}"
    return f"{plural(counts['objects'], 'object')}{f' ({verdicts})' if verdicts else ''}: {found}"


def following(count: int) -> str:
    """Return how many findings follow from others, nothing where none do."""
    return f", {plural(count, 'finding')} that {'follows' if count == 1 else 'follow'}" if count else ""


def plural(count: int, noun: str) -> str:
    """Return `1 error` or `2 errors`."""
    return f"{count} {noun}" + ("" if count == 1 else "s")

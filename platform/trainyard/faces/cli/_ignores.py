"""What options ignore, and the baseline of known findings: the same for every command that has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from trainyard.judge.checks.result import Result

IGNORE: Any = typer.Option(
    None,
    "--ignore",
    metavar="RULE",
    help="Ignore findings of this rule, or of a group such as ft-*; separated by commas; repeatable.",
)
BASELINE: Any = typer.Option(
    None, "--baseline", metavar="FILE", help="Ignore the findings that this file lists as known."
)
WRITE_BASELINE: Any = typer.Option(
    None, "--write-baseline", metavar="FILE", help="List all findings in this file, as known ones."
)
VERBOSE: Any = typer.Option(
    False,
    "--verbose",
    "-v",
    help="Also print ignored findings, rules that could not be checked, and files that are not manifests.",
)


def ignore(
    result: Result,
    root: Path,
    *,
    rules: Sequence[str] | None,
    baseline: Path | None,
    write_baseline: Path | None,
    base: Path = Path(),
) -> None:
    """Take out of a result what options ignore, and write the baseline; paths in the result begin at `base`.

    Raises TrainyardError for a rule that does not exist, and for a file that is no baseline.
    """
    if not (rules or baseline or write_baseline):
        return
    from trainyard.base.errors import TrainyardError
    from trainyard.base.findings import count_of
    from trainyard.judge.checks.ignores import baseline as known
    from trainyard.judge.checks.ignores.apply import by_option, known_names, may_ignore, take_out
    from trainyard.judge.checks.ignores.names import Names, parse_names
    from trainyard.judge.checks.ignores.settings import Folders

    if baseline and write_baseline:
        raise TrainyardError("--baseline and --write-baseline cannot be combined; keep one")
    given, folders = parse_names(rules or ()), Folders(base)
    names = Names(root, {*known_names(result), *(item.finding.rule for item in result.ignored)})
    for problem in filter(None, map(names.problem, given)):
        raise TrainyardError(f"--ignore: {problem}")
    take_out(result, by_option(given, names, folders))
    if write_baseline:
        left = [finding for finding in result.findings if may_ignore(finding, names, folders)]
        count = known.write(write_baseline, left)
        written = f"wrote {count_of(count, 'finding')} to {write_baseline}"
        result.notes.append(f"{written}; `--baseline {write_baseline}` ignores what it lists")
    if path := baseline or write_baseline:
        entries, wrong = known.read(path)
        take_out(result, lambda finding: entries.take(finding) if may_ignore(finding, names, folders) else None)
        result.add(wrong)
        result.add(entries.unmatched(result, judged(result)))


def judged(result: Result) -> Iterable[str]:
    """Return the files about which something is known."""
    places = (*result.findings, *(item.finding for item in result.ignored))
    return result.read | {*(obj.file for obj in result.objects), *(finding.location.file for finding in places)}

"""Explain a rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from trainyard.faces.cli._options import PLAIN, ROOT
from trainyard.faces.cli._out import data, page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainyard.base.catalogue import Entry

EXAMPLES = ("trainyard rule kq-max-quota", "trainyard rule checkpoint")


def command(
    id_: str | None = typer.Argument(
        None,
        metavar="ID",
        help="Id of the rule, as printed in brackets after a finding; a part of an id lists all matches.",
    ),
    format_: str = PLAIN,
    root: Path = ROOT,
) -> int:
    """Explain a rule: its reason, its fix, its source, and whether it can be waived."""
    from trainyard.base import catalogue
    from trainyard.base.errors import TrainyardError
    from trainyard.base.findings import did_you_mean
    from trainyard.base.system.repository import is_repository

    known = catalogue.kept_entries(root if is_repository(root) else None)
    wanted = id_ or ""
    chosen = {name: entry for name, entry in known.items() if (name == wanted if wanted in known else wanted in name)}
    if not chosen:
        raise TrainyardError(f"rule {wanted!r} does not exist; {did_you_mean(wanted, known)}")
    if format_ == "json":
        data(json.dumps([fields(entry) for entry in chosen.values()], indent=1))
    elif wanted in chosen:
        page("\n".join([*print_lines(known[wanted]), *address(root, wanted)]))
    else:
        page("\n".join(title_lines(chosen)))
    return 0


def print_lines(entry: Entry) -> Iterator[str]:
    """Yield everything about one rule."""
    rule = entry.rule
    yield f"{rule.id}: {rule.title}"
    yield f"  why: {rule.why}"
    if rule.fix:
        yield f"  fix: {rule.fix}"
    for source in entry.sources:
        yield f"  source: {source}"
    yield f"  declared in: {', '.join(entry.declared)}"
    yield f"  {waiving(entry)}"


def address(root: Path, rule: str) -> Iterator[str]:
    """Yield where the rule's section is, with what is wrong and what is right, if anybody knows."""
    from trainyard.faces.cli._pages import pages
    from trainyard.faces.report.view import anchor

    if known := pages(root):
        yield f"  page: {known}#{anchor(rule)}"


def waiving(entry: Entry) -> str:
    """Return the severity of the rule's findings, and how to accept one."""
    rule = entry.rule
    weight = f"{rule.severity}, in some cases a warning" if rule.may_warn else str(rule.severity)
    if not rule.waivable:
        return f"{weight}; it cannot be waived"
    what = "a warning" if rule.may_warn and not rule.may_waive else "it"
    return f"{weight}; to accept {what}, add waive: {{{rule.id}: <reason>}} to the spec that it concerns"


def title_lines(entries: Mapping[str, Entry]) -> Iterator[str]:
    """Yield a line for each rule."""
    width = max(map(len, entries))
    yield from (f"{name:<{width}}  {entry.rule.title}" for name, entry in entries.items())


def fields(entry: Entry) -> dict[str, Any]:
    """Return a rule as plain values."""
    rule = entry.rule
    return {
        "id": rule.id,
        "title": rule.title,
        "why": rule.why,
        "fix": rule.fix or None,
        "sources": list(entry.sources),
        "declared": list(entry.declared),
        "layer": rule.layer,
        "severity": rule.severity.value,
        "waivable": rule.waivable,
    }

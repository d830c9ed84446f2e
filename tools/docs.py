"""Writes what is generated from the code: the report's JSON Schema and the pages on rules, commands and storage.

`--check` fails where one is stale.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from typer.main import get_command

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "platform"))

from trainyard import catalogue  # noqa: E402  # after the path is set
from trainyard.catalogue import Entry  # noqa: E402
from trainyard.cli import build, commands  # noqa: E402
from trainyard.findings import Layer  # noqa: E402
from trainyard.report.json_ import schema  # noqa: E402
from trainyard.specs.drivers import Driver, drivers  # noqa: E402

LAYERS: Mapping[Layer, str] = {
    "spec": "Specs: jobs, teams, clusters and the repository",
    "run": "The generated tree and the runs in it",
    "pairing": "Operators, Kubernetes and each other",
    "values": "Values of charts",
    "queueing": "Kueue's decision",
    "node": "The kubelet's decision",
    "decode": "Reading a file",
    "schema": "Schemas of kinds",
    "meta": "Metadata",
    "core": "Kubernetes' own checks",
    "cel": "Rules in CEL",
    "webhook": "Webhooks and controllers of operators",
    "update": "Changes of objects that exist",
    "policy": "Policies, and Pod Security",
}
"""A chapter for each layer."""

WIDTH = 110
"""Columns of what commands say of themselves."""


def rules() -> Iterator[str]:
    """Yield the lines of the page on rules."""
    known = catalogue.entries()
    yield "# Rules"
    yield ""
    yield "Written by `make docs` from the rules' own words; `trainyard rule <id>` shows one. A warning, and an error"
    yield "that says so, is silenced by `waive: {<id>: <reason>}` in the spec that the finding is about."
    for layer, title in LAYERS.items():
        entries = [entry for entry in known.values() if entry.rule.layer == layer]
        if entries:
            yield from ("", f"## {title}", "")
            yield from chapter(entries)


def chapter(entries: list[Entry]) -> Iterator[str]:
    """Yield a chapter: rules that say much one by one, families of upstream checks as a table."""
    families = [entry for entry in entries if is_family(entry)]
    for entry in entries:
        if not is_family(entry):
            yield from page(entry)
    if families:
        yield "| rule | source |"
        yield "|---|---|"
        yield from (f"| `{entry.rule.id}` | {'; '.join(map(cell, entry.sources))} |" for entry in families)


def is_family(entry: Entry) -> bool:
    """Say whether a rule stands for a family of upstream checks, of which the source says all."""
    return entry.rule.title.endswith(f": {entry.rule.id.partition('/')[2].replace('-', ' ')}.")


def page(entry: Entry) -> Iterator[str]:
    """Yield what there is to say of one rule."""
    rule = entry.rule
    weight = f"{rule.severity}{', sometimes a warning' if rule.may_warn else ''}"
    waived = "; may be waived" if rule.may_waive else ""
    yield f"**`{rule.id}`** ({weight}{waived}). {rule.title} {sentence(rule.why)}"
    yield f"Fix: {rule.fix}. Source: {'; '.join(entry.sources)}."
    yield ""


def sentence(text: str) -> str:
    """Return a clause as a sentence."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def cell(text: str) -> str:
    """Return a text that breaks no table."""
    return text.replace("|", "\\|")


def cli() -> Iterator[str]:
    """Yield the lines of the page on commands: what each says of itself under `--help`."""
    yield "# Commands"
    yield ""
    yield "Written by `make docs` from what each command says under `--help`."
    yield "Exit codes of all: 0 clean, 1 findings, 2 could not finish."
    for name, command in leaves("trainyard", get_command(build(commands()))):
        context = command.context_class(command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH)
        yield from ("", f"## {name}", "", "```text", *command.get_help(context).splitlines(), "```")


def leaves(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield every command with the words that call it."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
    for key in sorted(inner or {}):
        yield from leaves(f"{name} {key}", inner[key])


COLUMNS = (
    "provisioner",
    "storage",
    "access",
    "a class must say",
    "secret",
    "pods write by",
    "claims grow",
    "full is full",
    "nodes need",
    "source",
)
"""Of the table of storage drivers."""


def storage() -> Iterator[str]:
    """Yield the lines of the page on storage drivers."""
    yield "# Storage drivers"
    yield ""
    yield "Written by `make docs` from `platform/trainyard/specs/drivers`; [clusters.md](clusters.md#storage) says how"
    yield "a class is declared. A driver that is not here needs only be said to be installed: its class is not checked."
    yield "*Pods write* by whom: the kubelet (`fsGroup`), the driver, or nobody but the server."
    yield ""
    yield from (f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|")
    for name, each in drivers().items():
        secret = "yes" if each.secrets else ""
        made = (
            "; ".join(asked(each)) if each.dynamic else "nothing: it makes no volumes, which somebody makes beforehand"
        )
        words = [f"`{name}`", each.title, " ".join(each.access), made, secret, each.ownership, yes(each.grows)]
        yield f"| {' | '.join(map(cell, [*words, yes(each.enforces), each.nodes or '', each.source]))} |"


def asked(each: Driver) -> Iterator[str]:
    """Yield what a class of a driver must say, in words."""
    unless = f" (unless `{each.instead}` is there)" if each.instead else ""
    if each.required:
        yield ", ".join(f"`{name}`" for name in each.required) + unless
    yield from (" or ".join(f"`{name}`" for name in group) for group in each.any_of)
    yield from (f"one of {', '.join(f'`{name}`' for name in group)}" for group in each.one_of)
    for when in each.when:
        yield f"`{'`, `'.join(when.required)}` with `{when.parameter}` {' or '.join(when.values)}"


def yes(value: bool) -> str:
    """Return a truth as a table has it."""
    return "yes" if value else "no"


def pages() -> dict[Path, str]:
    """Return what every generated file should hold."""
    missing = set(get_args(Layer)) - set(LAYERS)
    if missing:
        raise SystemExit(f"layers without a chapter: {', '.join(sorted(missing))}")
    return {
        ROOT / "schemas" / "trainyard" / "report.json": json.dumps(schema(), indent=1) + "\n",
        ROOT / "docs" / "rules.md": "\n".join(rules()).rstrip() + "\n",
        ROOT / "docs" / "cli.md": "\n".join(cli()) + "\n",
        ROOT / "docs" / "storage.md": "\n".join(storage()) + "\n",
    }


if __name__ == "__main__":
    for target, text in pages().items():
        there = target.read_text(encoding="utf-8") if target.exists() else None
        if "--check" in sys.argv:
            if there != text:
                raise SystemExit(f"{target.relative_to(ROOT)} is stale; run `make docs`")
        elif there != text:
            target.write_text(text, encoding="utf-8")
            print(f"wrote {target.relative_to(ROOT)}")

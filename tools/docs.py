"""Writes what is generated from the code: the report's schema, pages on rules, fields, data and commands, and pictures.

`--check` fails where one is stale.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from typer.main import get_command

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "platform"), str(ROOT / "tools")]

import docs_data  # noqa: E402  # after the path is set
import docs_distributions  # noqa: E402
import docs_fields  # noqa: E402
import docs_first_sync  # noqa: E402
import docs_gpus  # noqa: E402
import docs_pairs  # noqa: E402
import docs_pictures  # noqa: E402
import docs_pitfalls  # noqa: E402
import docs_rules  # noqa: E402
import docs_transports  # noqa: E402
from trainyard.base.findings import Layer  # noqa: E402
from trainyard.faces.cli import build, commands  # noqa: E402
from trainyard.faces.report.json_ import schema  # noqa: E402
from trainyard.specs.drivers import Driver, drivers  # noqa: E402

WIDTH = 110
"""Columns of what commands say of themselves."""


def cli() -> Iterator[str]:
    """Yield the lines of the page on commands: what each says of itself under `--help`."""
    yield "# Commands"
    yield ""
    yield "`make docs` writes this page from the `--help` of each command."
    yield "All commands exit with 0 (clean), 1 (findings) or 2 (could not finish)."
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
    "an export must say",
    "secret",
    "pods write by",
    "claims grow",
    "full is full",
    "snapshots",
    "renames",
    "nodes need",
    "source",
)
"""Of the table of storage drivers."""


def storage() -> Iterator[str]:
    """Yield the lines of the page on storage drivers."""
    yield "# Storage drivers"
    yield ""
    yield "`make docs` writes this page from `platform/trainyard/specs/drivers`. [Clusters](clusters.md#storage) shows"
    yield "how to declare a class. You can use other drivers too; their classes are not checked. *Pods write by* names"
    yield "who lets pods write: the kubelet (`fsGroup`), the driver, or only the server."
    yield ""
    yield from (f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|")
    for name, row in drivers().items():
        secret = "yes" if row.secrets else ""
        made = (
            "; ".join(class_parameters(row))
            if row.dynamic
            else "nothing: it makes no volumes, which somebody makes beforehand"
        )
        export = ", ".join(f"`{attribute}`" for attribute in row.export)
        words = [f"`{name}`", row.title, " ".join(row.access), made, export, secret, row.ownership, yes(row.grows)]
        renames = "files and folders" if row.renames else "files" if row.renames_files else "nothing"
        words += [yes(row.enforces), yes(row.snapshots is not None), renames, row.nodes or "", row.source]
        yield f"| {' | '.join(map(docs_fields.cell, words))} |"


def class_parameters(driver: Driver) -> Iterator[str]:
    """Yield the parameters that a class of a driver must have, in words."""
    unless = f" (unless `{driver.instead}` is there)" if driver.instead else ""
    if driver.required:
        yield ", ".join(f"`{name}`" for name in driver.required) + unless
    yield from (" or ".join(f"`{name}`" for name in group) for group in driver.any_of)
    yield from (f"one of {', '.join(f'`{name}`' for name in group)}" for group in driver.one_of)
    for when in driver.when:
        named = f"`{when.parameter}` {' or '.join(when.values)}"
        if when.required:
            yield f"`{'`, `'.join(when.required)}` with {named}"
        for parameter, known in when.known.items():
            yield f"`{parameter}` {', '.join(known)} with {named}"
        for parameter in when.refuses:
            yield f"no `{parameter}` with {named}"


def yes(value: bool) -> str:
    """Return a truth as a table has it."""
    return "yes" if value else "no"


def decisions() -> Iterator[str]:
    """Yield the list of decisions, by what they say."""
    yield from ("# Decisions", "", "Choices that a newcomer may question, with their context and their price.", "")
    for path in sorted((ROOT / "docs" / "decisions").glob("[a-z]*.md")):
        yield f"- [{path.read_text('utf-8').splitlines()[0].removeprefix('# ')}]({path.name})"


def pages() -> dict[Path, str]:
    """Return the contents of every generated file."""
    missing = set(get_args(Layer)) - set(docs_rules.LAYERS)
    if missing:
        raise SystemExit(f"layers without a chapter: {', '.join(sorted(missing))}")
    made = {"rules": docs_rules.page(ROOT), "cli": cli(), "storage": storage(), "decisions/README": decisions()}
    made |= {"reference/shapes": docs_data.shapes(), "reference/releases": docs_data.operators(ROOT)}
    made["first-sync"] = docs_first_sync.page(ROOT)
    made["reference/gpus"] = docs_gpus.page()
    made["reference/pairing"] = docs_pairs.page(ROOT)
    made["reference/transports"] = docs_transports.page()
    made |= {"reference/kinds": docs_data.behaviours(), "reference/distributions": docs_distributions.page()}
    made |= {f"reference/{name}": docs_fields.page(name) for name in docs_fields.MODELS}
    texts = {ROOT / "docs" / f"{name}.md": "\n".join(lines).rstrip() + "\n" for name, lines in made.items()}
    texts[ROOT / "docs" / "argocd.md"] = docs_pitfalls.page(ROOT)
    texts |= {ROOT / "docs" / "pictures" / name: svg for name, svg in docs_pictures.drawn()}
    return {ROOT / "schemas" / "trainyard" / "report.json": json.dumps(schema(), indent=1) + "\n", **texts}


if __name__ == "__main__":
    for target, text in pages().items():
        there = target.read_text(encoding="utf-8") if target.exists() else None
        if "--check" in sys.argv:
            if there != text:
                raise SystemExit(f"{target.relative_to(ROOT)} is stale; run `make docs`")
        elif there != text:
            target.parent.mkdir(exist_ok=True)
            target.write_text(text, encoding="utf-8")
            print(f"wrote {target.relative_to(ROOT)}")

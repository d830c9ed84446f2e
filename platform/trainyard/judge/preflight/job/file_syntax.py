"""Whether the small files of a job can be read as what their endings say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from trainyard.base.documents import load
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import JOB, OneJob

SYNTAX = Rule(
    id="run/file-syntax",
    title="Small files of a job are valid JSON, YAML or TOML.",
    why="the program stops when it reads the file, after the run has waited for its GPUs",
    fix="correct the line; give templates and JSON with comments another ending",
    source="RFC 8259; yaml.org/spec/1.2.2; toml.io/en/v1.0.0",
    layer="run",
    severity=Severity.WARNING,
)

TEMPLATE = re.compile(r"\{\{|\{%|<%|\$\{")
"""The mark of a template, which something fills before it is read."""

COMMENT = re.compile(r"^\s*(?://|/\*)", re.MULTILINE)
"""A comment as programs of JavaScript write it into JSON."""

LINE = re.compile(r"\(at line (\d+)")


@JOB.check()
def check(one: OneJob) -> Iterator[Finding]:
    """Yield files with a syntax error, each with its first line that is wrong."""
    for index, file in enumerate(one.file.job.files):
        text = one.file.contents.get(file.source)
        found = None if text is None or TEMPLATE.search(text) else fault(file.source, text)
        if found is not None:
            line, why = found
            message = f"file {file.source!r} is no {format_name(file.source)}: line {line}: {why}"
            yield SYNTAX.at(one.file.source, ("files", index, "source"), message)


def format_name(name: str) -> str:
    """Return the format that the ending of a file's name stands for."""
    return {"json": "JSON", "toml": "TOML"}.get(name.rpartition(".")[2], "YAML")


def fault(name: str, text: str) -> tuple[int, str] | None:
    """Return the line and the sentence of a file's first error; None where it has none, or may be of another form."""
    if name.endswith(".json") and not COMMENT.search(text):
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            return error.lineno, error.msg[:1].lower() + error.msg[1:]
        except RecursionError:
            return None
    if name.endswith(".toml"):
        import tomllib  # few jobs have such a file

        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            at = LINE.search(str(error))
            return int(at[1]) if at else 1, str(error).partition(" (at")[0].lower()
    if name.endswith((".yaml", ".yml")):
        _, findings = load(text.encode(), file=name)
        broken = next(
            (item for item in findings if item.is_error and item.rule in {"decode/syntax", "decode/tab"}), None
        )
        return None if broken is None else (broken.location.line or 1, broken.message)
    return None

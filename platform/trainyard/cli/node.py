"""Ask what a kubelet would do, without one."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from trainyard.cli._out import data as shown
from trainyard.cli._out import say

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Ask what a kubelet would do, without one."""


@app.command("replay")
def replay(
    paths: list[Path] | None = typer.Argument(
        None, metavar="[PATH]...", help="Files of cases; default: standard input."
    ),
) -> int:
    """Say what a kubelet does with the pods of each case: a JSON document a line. docs/nodes.md has the format."""
    from trainyard.documents import load
    from trainyard.limits import FILE_BYTES
    from trainyard.nodes.answers import answer
    from trainyard.system import files

    unread = 0
    texts = {str(path): files.read_bounded(path, most=FILE_BYTES) for path in paths or ()} or {
        "standard input": files.piped(most=FILE_BYTES)
    }
    for name, data in texts.items():
        documents, findings = load(data, file=name)
        for finding in findings:
            said = f"{finding.location.file}:{finding.location.line}: {finding.message}"
            say(said, error=True)
        answers = [answer(document.value) for document in documents]
        for each in answers:
            shown(json.dumps(each, ensure_ascii=False))
        unread += len(findings) + sum("error" in each for each in answers)
    return int(bool(unread))

"""Show what a kubelet would do with a pod."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from trainyard.faces.cli._out import data as shown
from trainyard.faces.cli._out import say

EXAMPLES = {
    "replay": ("trainyard node replay cases.jsonl",),
}

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Show what a kubelet would do with a pod."""


@app.command("replay")
def replay(
    paths: list[Path] | None = typer.Argument(
        None, metavar="[PATH]...", help="Files with cases; default: standard input."
    ),
) -> int:
    """Predict what a kubelet does with the pods of each case, one JSON document per line (see docs/nodes.md)."""
    from trainyard.base.documents import load
    from trainyard.base.limits import FILE_BYTES
    from trainyard.base.system import files
    from trainyard.upstream.kubelet.answers import answer

    unread = 0
    texts = {str(path): files.read_bounded(path, most=FILE_BYTES) for path in paths or ()} or {
        "standard input": files.piped_bytes(most=FILE_BYTES)
    }
    for name, data in texts.items():
        documents, findings = load(data, file=name)
        for finding in findings:
            said = f"{finding.location.file}:{finding.location.line}: {finding.message}"
            say(said, error=True)
        answers = [answer(document.value) for document in documents]
        for one_answer in answers:
            shown(json.dumps(one_answer, ensure_ascii=False))
        unread += len(findings) + sum("error" in one_answer for one_answer in answers)
    return int(bool(unread))

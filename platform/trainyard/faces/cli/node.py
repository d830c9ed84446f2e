"""Show what a kubelet would do with a pod."""

from __future__ import annotations

import json

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
    paths: list[str] | None = typer.Argument(
        None, metavar="[PATH]...", help="Files with cases, or - for standard input, which is the default."
    ),
) -> int:
    """Predict what a kubelet does with the pods of each case, one JSON document per line (see docs/nodes.md)."""
    from trainyard.base.system.files import STDIN, require_once
    from trainyard.faces.cli._case_files import documents_in
    from trainyard.upstream.kubelet.answers import answer

    require_once(paths or ())
    failed = False
    for name in paths or (STDIN,):
        for documents, findings in documents_in(name):
            for finding in findings:
                said = f"{finding.location.file}:{finding.location.line}: {finding.message}"
                say(said, error=True)
            answers = [answer(document.value) for document in documents]
            for one_answer in answers:
                shown(json.dumps(one_answer, ensure_ascii=False))
            failed |= bool(findings) or any("error" in one_answer for one_answer in answers)
    return int(failed)

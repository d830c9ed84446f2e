"""Compare with a real cluster; nothing is changed there."""

from __future__ import annotations

from pathlib import Path

import typer

from trainyard.faces.cli._options import ROOT
from trainyard.faces.cli._out import page

EXAMPLES = {
    "verify": ("trainyard live verify --context atlas",),
}

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Compare with a real cluster; nothing is changed there."""


@app.command("verify")
def verify(
    cluster: str | None = typer.Argument(
        None, help="The cluster of this repository; default: the name of the context."
    ),
    context: str = typer.Option(
        help="The context of the kubeconfig; required, so that no other cluster is reached by mistake."
    ),
    kubeconfig: Path | None = typer.Option(None, help="The kubeconfig; default: $KUBECONFIG, or ~/.kube/config."),
    root: Path = ROOT,
) -> int:
    """Apply generated/<cluster> in a server-side dry run, and list where the API server and `validate` disagree."""
    from trainyard.faces.cli._findings import show
    from trainyard.faces.live import verify as comparison
    from trainyard.faces.live.server import Server
    from trainyard.judge import frozen

    checked = frozen.check_specs(root)
    show(checked.findings)
    if checked.refused:
        return 1
    server = Server(kubeconfig=kubeconfig, context=context)
    found = comparison.verify(root, checked.specs, cluster or context, server)
    page(comparison.render(found), end="")
    return int(bool(found.differences))

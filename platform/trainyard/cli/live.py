"""Ask a real cluster, without ever changing it."""

from __future__ import annotations

from pathlib import Path

import typer

from trainyard.cli._options import ROOT
from trainyard.cli._out import page

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Ask a real cluster, without ever changing it."""


@app.command("verify")
def verify(
    cluster: str | None = typer.Argument(None, help="The cluster of this repository; default: named as the context."),
    context: str = typer.Option(help="The context of the kubeconfig; always named, so that none is asked by mistake."),
    kubeconfig: Path | None = typer.Option(None, help="The kubeconfig; default: KUBECONFIG, else ~/.kube/config."),
    root: Path = ROOT,
) -> int:
    """Apply generated/<cluster> in a server-side dry run, and list where the server and `validate` disagree."""
    from trainyard.cli._findings import show
    from trainyard.live import verify as comparison
    from trainyard.live.server import Server
    from trainyard.tree import frozen

    checked = frozen.checked(root)
    show(checked.findings)
    if checked.refused:
        return 1
    server = Server(kubeconfig=kubeconfig, context=context)
    found = comparison.verify(root, checked.specs, cluster or context, server)
    page(comparison.render(found), end="")
    return int(bool(found.differences))

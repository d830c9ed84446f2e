"""Compare with a real cluster; nothing is changed there."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from trainyard.faces.cli._options import PLAIN, ROOT
from trainyard.faces.cli._out import data, page, say

EXAMPLES = {
    "verify": ("trainyard live verify --context atlas",),
    "prerequisites": ("trainyard live prerequisites --context atlas",),
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


@app.command("prerequisites")
def prerequisites(
    cluster: str | None = typer.Argument(
        None, help="The cluster of this repository; default: the name of the context."
    ),
    context: str = typer.Option(
        help="The context of the kubeconfig; required, so that no other cluster is reached by mistake."
    ),
    kubeconfig: Path | None = typer.Option(None, help="The kubeconfig; default: $KUBECONFIG, or ~/.kube/config."),
    format_: str = PLAIN,
    root: Path = ROOT,
) -> int:
    """Look on a cluster for what generated/<cluster>/PREREQUISITES.md lists; nothing is changed there."""
    from trainyard.faces.cli._findings import show
    from trainyard.faces.live import prerequisites as comparison
    from trainyard.faces.live.server import Server
    from trainyard.judge import frozen
    from trainyard.specs.editing.named import cluster_of

    checked = frozen.check_specs(root)
    show(checked.findings)
    if checked.refused:
        return 1
    name = cluster_of(cluster or context, checked.specs.clusters)
    rows = comparison.compare(checked.specs, name, Server(kubeconfig=kubeconfig, context=context))
    if format_ == "json":
        data(json.dumps(comparison.table(rows, name), indent=1))
    else:
        for line in comparison.lines(rows, name):
            say(line)
    return int(any(row.verdict.word == "missing" for row in rows))

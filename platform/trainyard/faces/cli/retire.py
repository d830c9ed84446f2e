"""Stop a job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trainyard.faces.cli._options import ROOT, jobs
from trainyard.faces.cli._out import page, say

EXAMPLES = ("trainyard retire nlp/llama3-8b", "trainyard retire --finished --context atlas --dry-run")


def command(
    job: Annotated[str | None, typer.Argument(autocompletion=jobs, help="The job, as in nlp/llama.")] = None,
    root: Path = ROOT,
    finished: Annotated[
        bool, typer.Option("--finished", help="Retire all jobs whose runs succeeded on a cluster.")
    ] = False,
    context: Annotated[str | None, typer.Option(help="With --finished: the context of the kubeconfig.")] = None,
    cluster: Annotated[
        str | None, typer.Option(help="With --finished: the cluster; default: the name of the context.")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="With --finished: also jobs whose runs failed.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --finished: change nothing, only print.")] = False,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="With --finished: the kubeconfig; default: $KUBECONFIG, or ~/.kube/config.")
    ] = None,
) -> int:
    """Set retired: true in a job's file; its run stops once the change is merged.

    With --finished, read from a cluster which runs have ended, and change nothing there. A finished run that is not
    retired starts again when its object is missing, such as on a rebuilt cluster.
    """
    if finished:
        if job or not context:
            raise typer.BadParameter("--finished needs --context, and no job")
        return retire_finished(root, cluster or context, context, kubeconfig, failed=failed, dry_run=dry_run)
    if not job or context or cluster or failed or dry_run:
        raise typer.BadParameter("name a job, or use --finished --context NAME")
    from trainyard.base.system.repository import job_file
    from trainyard.specs.editing.named import find_job
    from trainyard.specs.editing.retirement import retire

    team, name = find_job(root, job, "set retired=True")
    if retire(root, team, name):
        say(f"set retired: true in {job_file(team, name)}; next: run trainyard synth")
    else:
        say(f"{job_file(team, name)} already has retired: true")
    return 0


def retire_finished(
    root: Path, cluster: str, context: str, kubeconfig: Path | None, *, failed: bool, dry_run: bool
) -> int:
    """Retire the jobs whose runs have ended on a cluster, and say what was left and why."""
    from trainyard.faces.live import retiring
    from trainyard.faces.live.finished import ask, tree_at
    from trainyard.faces.live.server import Server
    from trainyard.specs.editing.named import cluster_of
    from trainyard.specs.load import read_repository

    specs = read_repository(root).specs
    cluster = cluster_of(cluster, specs.clusters)
    seen = ask(Server(kubeconfig=kubeconfig, context=context), tree_at(root), cluster)
    outcomes = list(retiring.decide(seen, specs.jobs, failed=failed))
    if not dry_run:
        outcomes = retiring.write(root, outcomes)
    page(retiring.render(outcomes, dry_run=dry_run), end="")
    return int(any(outcome.stuck for outcome in outcomes))

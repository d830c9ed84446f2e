"""Stop a job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trainyard.cli._options import ROOT, jobs
from trainyard.cli._out import page, say


def command(
    job: Annotated[str | None, typer.Argument(autocompletion=jobs, help="<team>/<job>, as in nlp/llama.")] = None,
    root: Path = ROOT,
    finished: Annotated[bool, typer.Option("--finished", help="All jobs whose runs ended well on a cluster.")] = False,
    context: Annotated[str | None, typer.Option(help="With --finished: the kubeconfig's context.")] = None,
    cluster: Annotated[str | None, typer.Option(help="With --finished: the cluster; default: as the context.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="With --finished: those that failed too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --finished: only say what it would do.")] = False,
    kubeconfig: Annotated[Path | None, typer.Option(help="Default: KUBECONFIG, else ~/.kube/config.")] = None,
) -> int:
    """Set retired: true in a job's file, which stops its run once the change is merged; the file stays.

    With --finished a cluster is asked which runs have ended, and nothing there is changed: a run that is finished and
    not retired trains again wherever its object is missing, as on a cluster that is built anew.
    """
    if finished:
        if job or not context:
            raise typer.BadParameter("--finished takes --context in place of a job")
        return retire_finished(root, cluster or context, context, kubeconfig, failed=failed, dry_run=dry_run)
    if not job or context or cluster or failed or dry_run:
        raise typer.BadParameter("name a job, or ask a cluster by --finished --context NAME")
    from trainyard.specs.editing.named import find_job
    from trainyard.specs.editing.retirement import retire
    from trainyard.system.repository import job_file

    team, name = find_job(root, job, "set retired=True")
    if retire(root, team, name):
        say(f"{job_file(team, name)} says retired: true now; next: trainyard synth")
    else:
        say(f"{job_file(team, name)} says retired: true already")
    return 0


def retire_finished(
    root: Path, cluster: str, context: str, kubeconfig: Path | None, *, failed: bool, dry_run: bool
) -> int:
    """Retire the jobs whose runs have ended on a cluster, and say what was left and why."""
    from trainyard.live import retiring
    from trainyard.live.finished import ask, tree_at
    from trainyard.live.server import Server
    from trainyard.specs.editing.named import cluster_of
    from trainyard.specs.load import read_repository

    specs = read_repository(root).specs
    cluster = cluster_of(cluster, specs.clusters)
    seen = ask(Server(kubeconfig=kubeconfig, context=context), tree_at(root), cluster)
    outcomes = list(retiring.decide(seen, specs.jobs, failed=failed))
    if not dry_run:
        outcomes = retiring.write(root, outcomes)
    page(retiring.render(outcomes, dry_run=dry_run), end="")
    return int(any(each.stuck for each in outcomes))

"""Export jobs as a pipeline of Kubeflow Pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trainyard.cli._options import ROOT
from trainyard.cli._out import say


def command(
    jobs: Annotated[
        list[str], typer.Argument(help="<team>/<job>, as in nlp/llama; jobs that it comes after come too.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File of the pipeline.")] = Path("pipeline.yaml"),
    name: Annotated[str | None, typer.Option(help="Name of the pipeline; default: that of the last job.")] = None,
    root: Path = ROOT,
) -> int:
    """Compile jobs that say after into one pipeline, whose steps start their training runs and wait for their end.

    The queue still decides when a run begins. A new run of the pipeline is a new run of each of its jobs.
    """
    from trainyard.cli._findings import show
    from trainyard.pipelines import chosen
    from trainyard.pipelines.sdk import write
    from trainyard.pipelines.steps import steps
    from trainyard.specs.editing.named import job_of
    from trainyard.tree import frozen

    checked = frozen.checked(root)
    show(checked.findings)
    if checked.refused:
        return 1
    named = [(team, job) for team, _, job in (job_of(each, root).partition("/") for each in jobs)]
    runs = chosen(checked.runs, named)
    cluster = checked.specs.clusters[runs[0].run.cluster_name]
    if cluster.pipelines is None:
        raise AssertionError("a step on a cluster without pipelines is an error")
    made = list(steps(runs))
    write(name or "-".join(named[-1]), made, cluster.pipelines, output)
    say(f"{output}: {len(made)} steps for cluster {runs[0].run.cluster_name}: {', '.join(each.name for each in made)}")
    return 0

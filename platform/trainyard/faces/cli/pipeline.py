"""Export jobs as a pipeline of Kubeflow Pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trainyard.faces.cli._options import ROOT
from trainyard.faces.cli._out import say

EXAMPLES = ("trainyard pipeline nlp/eval --output pipeline.yaml",)


def command(
    jobs: Annotated[
        list[str], typer.Argument(help="Jobs, as in nlp/llama; the jobs named in their after field are included.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")] = Path("pipeline.yaml"),
    name: Annotated[str | None, typer.Option(help="Name of the pipeline; default: the name of the last job.")] = None,
    root: Path = ROOT,
) -> int:
    """Compile jobs with after into one pipeline, whose steps start the training runs and wait for their end.

    The queue still decides when a run begins. A new run of the pipeline is a new run of each of its jobs.
    """
    from trainyard.base.system.files import require_file
    from trainyard.faces.cli._findings import show
    from trainyard.faces.pipelines import chosen
    from trainyard.faces.pipelines.sdk import write
    from trainyard.faces.pipelines.steps import steps
    from trainyard.judge import frozen
    from trainyard.specs.editing.named import job_of

    require_file(str(output), "--output")
    checked = frozen.check_specs(root)
    show(checked.findings)
    if checked.refused:
        return 1
    named = [(team, job) for team, _, job in (job_of(job, root).partition("/") for job in jobs)]
    runs = chosen(checked.runs, named)
    cluster = checked.specs.clusters[runs[0].run.cluster_name]
    if cluster.pipelines is None:
        raise AssertionError("a step on a cluster without pipelines is an error")
    made = list(steps(runs))
    write(name or "-".join(named[-1]), made, cluster.pipelines, output)
    say(f"{output}: {len(made)} steps for cluster {runs[0].run.cluster_name}: {', '.join(step.name for step in made)}")
    return 0

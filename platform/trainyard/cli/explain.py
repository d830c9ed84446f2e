"""Say what a job's pods ask for, and from what each value follows."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import typer


def command(
    job: str = typer.Argument(help="<team>/<job>, as in nlp/llama3-8b."),
    format_: str = typer.Option("text", "--format", "-o", help="text or json."),
    root: Path = typer.Option(Path(), help="The repository."),
) -> int:
    """Say what a job's pods ask for, and from what each value follows."""
    from trainyard.cli._findings import show
    from trainyard.errors import SpecError
    from trainyard.findings import did_you_mean
    from trainyard.kinds import starts
    from trainyard.specs.editing.named import job_of
    from trainyard.system.repository import JOBS
    from trainyard.tree import frozen

    checked = frozen.checked(root)
    show(checked.findings)
    known = {f"{each.run.team_name}/{each.run.job_name}": each for each in checked.runs}
    job = job_of(job)
    resolved = known.get(job)
    if resolved is None:
        there = {f"{each.team}/{each.name}": each.job for each in checked.specs.jobs}
        if job in there and there[job].retired:
            print(f"job {job!r} is retired, and asks for nothing")
            return int(checked.refused)
        refused = [f"{JOBS}/{each}." for each in there]
        refused += [each.location.file for each in checked.findings if each.is_error]
        if any(file.startswith(f"{JOBS}/{job}.") for file in refused):
            print(f"job {job!r} cannot run; its findings say why", file=sys.stderr)
            return 1
        raise SpecError(f"job {job!r} does not exist; {did_you_mean(job, known)}")
    run = resolved.run
    facts = [(name, shown(sized.value), sized.origin) for name, sized in (*resolved.facts(), *starts.facts(resolved))]
    if format_ == "json":
        rows = [{"name": name, "value": value, "origin": origin} for name, value, origin in facts]
        print(json.dumps({"run": run.name, "kind": run.kind, "cluster": run.cluster_name, "facts": rows}, indent=1))
        return int(checked.refused)
    print(f"{run.kind} {run.namespace}/{run.name} on cluster {run.cluster_name}")
    widths = [max(len(row[column]) for row in facts) for column in (0, 1)]
    for name, value, origin in facts:
        print(f"  {name:<{widths[0]}}  {value:<{widths[1]}}  {origin}")
    return int(checked.refused)


def shown(value: Any) -> str:
    """Return a value as it is written; of a topology, the mode and the node label."""
    label = getattr(value, "label", None)
    return f"{value.mode} {label}" if label else str(value)

"""Run a job again."""

from __future__ import annotations

from pathlib import Path

import typer

from trainyard.faces.cli._options import ROOT, jobs
from trainyard.faces.cli._out import say

EXAMPLES = ("trainyard rerun nlp/llama3-8b",)


def command(
    job: str = typer.Argument(autocompletion=jobs, help="The job, as in nlp/llama."),
    root: Path = ROOT,
) -> int:
    """Raise run: in a job's file, so that the same spec runs again under a new name; a retired job runs again too."""
    from trainyard.base.system import files
    from trainyard.base.system.repository import job_file
    from trainyard.render.tree.base import runs_known
    from trainyard.specs.editing.fields import fields, set_fields
    from trainyard.specs.editing.named import find_job, job_of

    past = runs_known(root, job_of(job, root))
    team, name = find_job(root, job, f"set run={max(1, past) + 1}")
    file = job_file(team, name)
    text = (files.read(root / file) or b"").decode("utf-8", "surrogateescape")
    number = fields(text, file).get("run")
    number = max(number if isinstance(number, int) else 1, past) + 1
    files.write(root / file, set_fields(text, file, {"run": number, "retired": None}), like=root / file)
    say(f"set run: {number} in {file}; next: run trainyard synth")
    return 0

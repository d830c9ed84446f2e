"""Stop a job."""

from __future__ import annotations

from pathlib import Path

import typer


def command(
    job: str = typer.Argument(help="<team>/<job>, as in nlp/llama."),
    root: Path = typer.Option(Path(), help="The repository."),
) -> int:
    """Set retired: true in a job's file, which stops its run once the change is merged; the file stays."""
    from trainyard.specs.editing.fields import set_fields
    from trainyard.specs.editing.named import find_job
    from trainyard.system import files
    from trainyard.system.repository import job_file

    team, name = find_job(root, job)
    file = job_file(team, name)
    text = (files.read(root / file) or b"").decode("utf-8", "surrogateescape")
    changed = set_fields(text, file, {"retired": True})
    if changed == text:
        print(f"{file} says retired: true already")
        return 0
    files.write(root / file, changed)
    print(f"{file} says retired: true now; next: trainyard synth")
    return 0

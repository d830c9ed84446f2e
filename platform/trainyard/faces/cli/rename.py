"""Rename a job and keep its checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trainyard.faces.cli._options import ROOT, jobs
from trainyard.faces.cli._out import say

if TYPE_CHECKING:
    from trainyard.faces.drafts.rename import Renamed

EXAMPLES = ("trainyard rename nlp/llama3-8b llama3",)


def command(
    job: str = typer.Argument(autocompletion=jobs, help="The job, as in nlp/llama."),
    new: str = typer.Argument(metavar="NEW", help="Its new name."),
    root: Path = ROOT,
) -> int:
    """Move a job's file to another name, and keep the folder of its checkpoints.

    After the merge the run with the old name ends, and a run with the new name resumes from its last checkpoint. Jobs
    that list the job under after are changed too.
    """
    from trainyard.base.errors import SpecError
    from trainyard.base.system import files
    from trainyard.base.system.repository import job_file
    from trainyard.faces.cli import _draft_findings
    from trainyard.faces.drafts.job import taken_names
    from trainyard.faces.drafts.rename import new_name, rename
    from trainyard.render.tree.base import merged_text
    from trainyard.specs.editing.named import find_job, job_of
    from trainyard.specs.load import read_repository

    team, old = find_job(root, job, "yield it under another name")
    loaded = read_repository(root)
    file = next(
        (one_job_file for one_job_file in loaded.specs.jobs if (one_job_file.team, one_job_file.name) == (team, old)),
        None,
    )
    if file is None:
        raise SpecError(f"{job_file(team, old)} has errors; fix them first: trainyard check {job_file(team, old)}")
    name = new_name(loaded.specs, team, old, job_of(new, root), taken_names(loaded))
    merged = merged_text(root, job_file(team, old), loaded.specs.repository)
    found = rename(root, loaded.specs, file, name, merged=merged)
    if _draft_findings.show_new(_draft_findings.with_changes(root, found.changes), _draft_findings.weigh(root, loaded)):
        return _draft_findings.nothing()
    first = job_file(team, name)
    files.create(root / first, found.changes[first] or "")
    for path, text in found.changes.items():
        if path != first and text is not None:
            files.write(root / path, text, like=root / path)
    (root / job_file(team, old)).unlink()
    tell(found, ran=merged is not None)
    return 0


def tell(found: Renamed, *, ran: bool) -> None:
    """Print the written files, the effect on the run, and the files to check by hand."""
    from trainyard.base.system.repository import job_file

    first, gone = job_file(found.team, found.new), job_file(found.team, found.old)
    more = [path for path in found.changes if path not in {first, gone}]
    also = f", and changed {', '.join(more)}" if more else ""
    say(f"{gone} is now {first}{also}; next: run make synth")
    if ran and found.file.job.step:
        say("exported pipelines still use the old name; export them again with `trainyard pipeline`")
    elif ran and not found.file.job.retired:
        state = f"resumes from the checkpoints in folder {found.folder}" if found.folder else "starts from nothing"
        say(f"once this is merged, the run of {found.old} stops, and a run of {found.new} {state}")
    if found.mentions:
        say(f"these files name the job too; check them: {', '.join(found.mentions)}")

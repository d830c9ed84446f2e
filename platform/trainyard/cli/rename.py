"""Give a job another name, with which it goes on from its checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trainyard.cli._options import ROOT, jobs
from trainyard.cli._out import say

if TYPE_CHECKING:
    from trainyard.drafts.rename import Renamed


def command(
    job: str = typer.Argument(autocompletion=jobs, help="<team>/<job>, as in nlp/llama."),
    new: str = typer.Argument(metavar="NEW", help="The other name."),
    root: Path = ROOT,
) -> int:
    """Move a job's file to another name, and keep the folder of its checkpoints.

    Once that is merged the run of the old name ends, and one of the new name goes on from its last checkpoint. Jobs
    that come after it are changed too.
    """
    from trainyard.cli import _judged
    from trainyard.drafts.job import taken
    from trainyard.drafts.rename import new_name, rename
    from trainyard.errors import SpecError
    from trainyard.specs.editing.named import find_job, job_of
    from trainyard.specs.load import read_repository
    from trainyard.system import files
    from trainyard.system.repository import job_file
    from trainyard.tree.base import merged_text

    team, old = find_job(root, job, "yield it under another name")
    loaded = read_repository(root)
    file = next((each for each in loaded.specs.jobs if (each.team, each.name) == (team, old)), None)
    if file is None:
        raise SpecError(f"{job_file(team, old)} has errors; mend them first: trainyard check {job_file(team, old)}")
    name = new_name(loaded.specs, team, old, job_of(new, root), taken(loaded))
    merged = merged_text(root, job_file(team, old), loaded.specs.repository)
    found = rename(root, loaded.specs, file, name, merged=merged)
    if _judged.refused(_judged.with_changes(root, found.changes), _judged.weigh(root, loaded)):
        return _judged.nothing()
    first = job_file(team, name)
    files.create(root / first, found.changes[first] or "")
    for path, text in found.changes.items():
        if path != first and text is not None:
            files.write(root / path, text, like=root / path)
    (root / job_file(team, old)).unlink()
    tell(found, ran=merged is not None)
    return 0


def tell(found: Renamed, *, ran: bool) -> None:
    """Say what was written, what becomes of a run, and what a person has to look at."""
    from trainyard.system.repository import job_file

    first, gone = job_file(found.team, found.new), job_file(found.team, found.old)
    more = [path for path in found.changes if path not in {first, gone}]
    also = f", and changed {', '.join(more)}" if more else ""
    say(f"{gone} is {first} now{also}; next: make synth")
    if ran and found.file.job.step:
        say("pipelines that were exported have its former name; export them again by trainyard pipeline")
    elif ran and not found.file.job.retired:
        state = f"goes on from the checkpoints in folder {found.folder}" if found.folder else "starts from nothing"
        say(f"once that is merged, the run of {found.old} ends, and one of {found.new} {state}")
    if found.mentions:
        say(f"these name it too, look at them: {', '.join(found.mentions)}")

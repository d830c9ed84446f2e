"""Jobs under another name: those that a change renames, and those that look like it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from trainyard.change.plan.read.two_sides import Run, Sides
from trainyard.render.tree.ledgers import JobKey


def former(new: Run) -> str:
    """Return the name that a job had before, as its file says it."""
    found = new.job.get("renamedFrom") if isinstance(new.job, dict) else None
    return found if isinstance(found, str) else ""


def renamed(sides: Sides, news: Iterable[Run], olds: Mapping[JobKey, Run]) -> dict[JobKey, JobKey]:
    """Return which of some jobs that begin are those that end, under another name, as far as the ledgers tell it.

    A run that ends without its job being retired is replaced there: by one of the same fields, by one that goes on in
    its folder, or by the only one of its program. The job itself may be made by a program that nobody ran.
    """
    found: dict[JobKey, JobKey] = {}
    begun = list(news)
    for key, old in olds.items():
        if state(sides, old) != "replaced":
            continue
        here = [new for new in begun if new.key[1] == key[1] and new.key not in found]
        made = [new for new in here if new.spec and new.spec == old.spec]
        mine = like(here, old) or [new for new in made if resumes(new, old)] or made
        if len(mine) == 1:
            found[mine[0].key] = key
    return found


def twin(sides: Sides, new: Run, olds: Collection[Run]) -> Run | None:
    """Return the run that ends with its job, where the fields of a new one are the same but for its name."""
    ended = [old for old in olds if old.key[:2] == new.key[:2] and state(sides, old) == "retired" and like([new], old)]
    return ended[0] if len(ended) == 1 else None


def state(sides: Sides, old: Run) -> str:
    """Return the state of a stopped run in the current ledger."""
    past = sides.now.ledgers.get(old.key, ())
    return next((entry.state for entry in past if entry.name == old.entry.name), "")


def like(news: Iterable[Run], old: Run) -> list[Run]:
    """Return the runs that are made of the same fields, of which a job's name is none."""
    return [new for new in news if new.entry.is_of(old.entry.spec)]


def resumes(new: Run, old: Run) -> bool:
    """Whether a run goes on from the checkpoints of another."""
    return bool(old.shape.claim) and (new.shape.claim, new.shape.folder) == (old.shape.claim, old.shape.folder)


def keep_checkpoints(new: Run, old: Run) -> str:
    """Return a note that a new job looks like one that ends, with the fields that keep its checkpoints."""
    name, folder = old.key[2], old.shape.folder or old.key[2]
    said = f"it looks like {name} under another name"
    if not old.shape.claim:
        return said
    fields = f"renamedFrom: {name} and checkpoint.folder: {folder}"
    way = fields if new.spec.endswith(".py") else f"{fields} (`trainyard rename` writes both)"
    return f"{said}, but starts from nothing; to keep its checkpoints, write {way}"

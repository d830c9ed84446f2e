"""Differences of each run between two trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.base.system.repository import job_file
from trainyard.change.plan.compare import reasons
from trainyard.change.plan.compare.marks import compared, marks, of_job
from trainyard.change.plan.compare.renames import former, keep_checkpoints, renamed, twin
from trainyard.change.plan.effects import Amount, Changed, Mark, RunEffect, RunWord
from trainyard.change.plan.read import lost_work
from trainyard.change.plan.read.two_sides import Run, Sides, files_of
from trainyard.render.parts.links import written_links
from trainyard.render.tree.ledger import Entry
from trainyard.render.tree.ledgers import JobKey
from trainyard.render.tree.snapshot import Snapshot


def run_effects(sides: Sides) -> Iterator[RunEffect]:
    """Yield the effect on each run, by cluster, team and job."""
    base, now = sides.base, sides.now
    before, after = base.active, now.active
    begun = {key: entry for key, entry in after.items() if key not in before or before[key].name != entry.name}
    ended = {key: entry for key, entry in before.items() if key not in after or after[key].name != entry.name}
    news, olds = sides.runs(begun, old=False), sides.runs(ended, old=True)
    leaving = {key[1:]: key for key in ended if key not in after}
    fresh = [new for key, new in news.items() if key not in ended and key[1:] not in leaving]
    told = {(new.key[1], former(new)) for new in fresh} | {key[1:] for key in after}
    loose = [new for new in fresh if (new.key[1], former(new)) not in leaving]
    known = renamed(sides, loose, {key: olds[key] for key in leaving.values() if key[1:] not in told})
    for key, entry in sorted(after.items()):
        if key not in begun:
            same = files_of(base, key, entry) == files_of(now, key, entry)
            yield stays(sides, key, entry) if same else RunEffect("changes", *key, entry.name)
            continue
        new = news[key]
        source = key if key in ended else leaving.pop(key[1:], None) or leaving.pop((key[1], former(new)), None)
        source = source or known.get(key)
        old = olds.pop(source, None) if source else None
        like = twin(sides, new, olds.values()) if old is None else None
        for begin in begins(sides, new, old):
            yield replace(begin, twin=like.key[2], state=keep_checkpoints(new, like)) if like else begin
    for _, old in sorted(olds.items()):
        yield ends(sides, old, "stops")


def stays(sides: Sides, key: JobKey, entry: Entry) -> RunEffect:
    """Return a run that stays as it is, with what its job waives now, and does no more: that restarts nothing."""
    file = job_file(key[1], key[2])
    if file not in sides.changed:
        return RunEffect("keeps", *key, entry.name)
    before, after = (tuple(of_job(value)) for value in sides.values(file))
    found = (mark for mark in compared(after, before) if mark.was != "as before")
    return RunEffect("keeps", *key, entry.name, spec=file, marks=tuple(found))


def begins(sides: Sides, new: Run, old: Run | None) -> Iterator[RunEffect]:
    """Yield the effects on a new run and on the run that it replaces."""
    effect = about(sides, new, old)
    if sides.base.live and used_up(sides.base, new.key, new.entry):
        yield replace(effect, word="returns")
    elif old is None:
        yield effect
    else:
        yield follows(effect, new, old)
        if old.key[0] != new.key[0]:
            yield replace(ends(sides, old, "leaves"), before=new.entry.name, before_cluster=new.key[0])


def about(sides: Sides, new: Run, old: Run | None) -> RunEffect:
    """Return a run that starts, with all that there is to say of it by itself and against the one before it."""
    shape = new.shape
    past = () if old is None else marks(old.job, old.objects) if old.job is not None or new.job is None else None
    return RunEffect(
        "starts",
        *new.key,
        new.entry.name,
        shape.words,
        before=old.entry.name if old else None,
        before_cluster=old.key[0] if old else None,
        queue=shape.queue,
        pools=shape.pools,
        amount=amount_of(sides, new),
        spec=new.spec,
        folder=new.folder,
        marks=(*marks(new.job, new.objects, past), *unread(new)),
        links=written_links(new.objects),
    )


def unread(new: Run) -> Iterator[Mark]:
    """Yield a note for a job whose Python file was not executed, so that its fields are unknown."""
    if new.job is None and new.spec.endswith(".py"):
        yield Mark(
            "unread", f"patches and waivers of {new.spec}, because the program was not run; run it with --python"
        )


def follows(effect: RunEffect, new: Run, old: Run) -> RunEffect:
    """Return the effect of a run that comes in the place of another: why, and with which of its work."""
    word: RunWord = "replaces"
    one, two = new.shape, old.shape
    loss = lost_work.everything("it has no checkpoints and starts from nothing", two)
    if old.key[0] != new.key[0]:
        word, words = "moves", f"it starts from nothing: its checkpoints stay on cluster {old.key[0]}"
        loss = lost_work.everything(words, two)
    elif one.claim and one.claim == two.claim and one.folder == two.folder:
        loss = lost_work.when_resumed(two, old.job, two.folder or new.key[2])
    elif one.claim and one.claim == two.claim:
        words = f"it starts from nothing: checkpoint folder {two.folder} → {one.folder}"
        loss = lost_work.everything(words, two)
    elif one.claim:
        words = f"it starts from nothing and saves its checkpoints in volume {one.claim} from now on"
        loss = lost_work.everything(words, two)
    because = why(new, old)
    loss = lost_work.NOTHING if old.simulated else loss
    return replace(effect, word=word, because=because, state=loss.words, lost=loss.lost, lost_gpu_hours=loss.gpu_hours)


def why(new: Run, old: Run) -> tuple[Changed, ...]:
    """Return the changed fields of a run: its name, fields of the job, or of its objects where no file has them."""
    if new.key[1:] != old.key[1:]:
        return (Changed("its name", old.key[2], new.key[2]),)
    return reasons.in_job(old.job, new.job) or reasons.in_objects(
        old.objects, new.objects, (old.entry.name, new.entry.name)
    )


def ends(sides: Sides, old: Run, word: RunWord) -> RunEffect:
    """Return the effect on a run that stops without a successor here."""
    shape = old.shape
    loss = lost_work.NOTHING if old.simulated else lost_work.when_stopped(shape, old.job)
    return RunEffect(
        word,
        *old.key,
        old.entry.name,
        shape.words,
        state=loss.words,
        lost=loss.lost,
        lost_gpu_hours=loss.gpu_hours,
        queue=shape.queue,
        pools=shape.pools,
        amount=amount_of(sides, old, old=True),
        spec=old.spec,
        folder=old.folder,
    )


def amount_of(sides: Sides, run: Run, *, old: bool = False) -> Amount:
    """Return the pods, GPUs, hours and price of a run."""
    shape = run.shape
    hours = shape.hours if shape.hours is not None else deadline(run)
    return Amount(shape.pods, shape.gpus, hours, sides.price(run.key[0], shape.asks, old=old))


def deadline(run: Run) -> float | None:
    """Return the hours after which a job's file ends its run, where its kind has no field for that."""
    hours = run.job.get("maxHours") if isinstance(run.job, dict) else None
    return float(hours) if isinstance(hours, (int, float)) and not isinstance(hours, bool) else None


def used_up(base: Snapshot, key: JobKey, entry: Entry) -> bool:
    """Say whether a run's name is one that the job had before, and that never comes back."""
    return any(one_entry.name == entry.name and one_entry.state != "active" for one_entry in base.ledgers.get(key, ()))

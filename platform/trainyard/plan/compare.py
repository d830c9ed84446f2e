"""From two trees, the one at the base and the one at hand, to what the change does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainyard.documents import load
from trainyard.documents.differences import changed_keys, differences
from trainyard.plan import losses
from trainyard.plan.effects import ObjectEffect, Plan, RunEffect, RunWord, Switch
from trainyard.plan.shape import Shape, shape
from trainyard.specs.run import OUTSIDE_DIGEST
from trainyard.system.repository import JOBS
from trainyard.tree import index, layout
from trainyard.tree.hardware import hardware_with_runs
from trainyard.tree.ledger import Entry
from trainyard.tree.ledgers import JobKey
from trainyard.tree.snapshot import Snapshot

PROTECTED = frozenset({"Namespace", "PersistentVolumeClaim"})
"""Kinds that may be kept in the cluster when their file goes."""

SHOWN = 4
"""Fields of an object that are named."""

Spec = Callable[[str], tuple[bytes | None, bytes | None]]
"""The text of a spec file at the base and at hand."""


def compare(base: Snapshot, now: Snapshot, spec: Spec, *, live: bool) -> Plan:
    """Return what happens to runs and objects between two trees; `spec` reads the file of a job."""
    runs = tuple(run_effects(base, now, spec))
    objects = tuple(object_effects(base, now))
    findings = (
        tuple(hardware_with_runs(base, now.files, {key: entry.name for key, entry in now.active.items()}))
        if base.live
        else ()
    )
    switched: Switch | None = None
    if base.commit is not None and live != base.live:
        switched = "on" if live else "off"
    return Plan(base.commit, live or base.live, switched, runs=runs, objects=objects, findings=findings)


def run_effects(base: Snapshot, now: Snapshot, spec: Spec) -> Iterator[RunEffect]:
    """Yield what happens to each run, by cluster, team and job."""
    before, after = base.active, now.active
    ended = {key: entry for key, entry in before.items() if key not in after or after[key].name != entry.name}
    old_shapes = shapes(base, ended)
    leaving = {key[1:]: key for key in ended if key not in after}
    begun = {key: entry for key, entry in after.items() if key not in before or before[key].name != entry.name}
    new_shapes = shapes(now, begun)
    for key, entry in sorted(after.items()):
        if key not in begun:
            yield RunEffect("keeps" if same(base, now, key, entry) else "changes", *key, entry.name)
            continue
        former = former_of(now, key, entry, spec)
        source = key if key in ended else leaving.pop(key[1:], None) or leaving.pop((key[1], former), None)
        if source is None:
            word: RunWord = "returns" if base.live and used_up(base, key, entry) else "starts"
            yield RunEffect(word, *key, entry.name, new_shapes[key].words)
        elif base.live and used_up(base, key, entry):
            old = ended.pop(source)
            yield RunEffect("returns", *key, entry.name, new_shapes[key].words, old.name, source[0])
        else:
            old = ended.pop(source)
            job = job_of(base, source, old, spec)
            effect = follows(key, entry, new_shapes[key], source, old, old_shapes[source], job)
            why = reasons(now, key, entry, spec) if source[1:] == key[1:] else ("its name",)
            yield replace(effect, because=why)
            if source[0] != key[0]:
                state = losses.stopped(old_shapes[source], job)
                yield RunEffect("leaves", *source, old.name, old_shapes[source].words, entry.name, key[0], state=state)
    for key, entry in sorted(ended.items()):
        state = losses.stopped(old_shapes[key], job_of(base, key, entry, spec))
        yield RunEffect("stops", *key, entry.name, old_shapes[key].words, state=state)


def follows(key: JobKey, entry: Entry, new: Shape, source: JobKey, ended: Entry, old: Shape, job: Any) -> RunEffect:
    """Return the effect of a run that comes in the place of another; `source` is the job whose run ends.

    `job` is its file as it was.
    """
    word: RunWord = "replaces"
    state = "it starts from nothing, having no checkpoints"
    if source[0] != key[0]:
        word, state = "moves", f"it starts from nothing, since checkpoints stay on {source[0]}"
    elif new.claim and new.claim == old.claim and new.folder == old.folder:
        state = losses.resumed(old, job, old.folder or key[2])
    elif new.claim and new.claim == old.claim:
        state = f"it starts from nothing: its checkpoints are in folder {new.folder}, those so far in {old.folder}"
    elif new.claim:
        state = f"it starts from nothing, with its checkpoints in volume {new.claim} from now on"
    return RunEffect(word, *key, entry.name, new.words, ended.name, source[0], state=state)


def used_up(base: Snapshot, key: JobKey, entry: Entry) -> bool:
    """Say whether a run's name is one that the job had before, and that never comes back."""
    return any(each.name == entry.name and each.state != "active" for each in base.ledgers.get(key, ()))


def same(base: Snapshot, now: Snapshot, key: JobKey, entry: Entry) -> bool:
    """Say whether a run has the same files on both sides."""
    return files_of(base, key, entry) == files_of(now, key, entry)


def files_of(side: Snapshot, key: JobKey, entry: Entry) -> Mapping[str, str]:
    """Return the files of a run."""
    return side.folder(f"{key[0]}/{layout.run_folder(key[1], entry.name)}")


def job_of(base: Snapshot, key: JobKey, entry: Entry, spec: Spec) -> Any:
    """Return the file of a run's job as it was at the base; None where a program made the job."""
    entries = base.index(key[0], layout.run_folder(key[1], entry.name)).values()
    file = next(
        (each.spec for each in entries if each.spec.startswith(f"{JOBS}/") and each.spec.endswith(".yaml")), None
    )
    return plain(spec(file)[0], file) if file else None


def former_of(now: Snapshot, key: JobKey, entry: Entry, spec: Spec) -> str:
    """Return the name that a job had before, as its file says it; nothing where a program makes the job."""
    entries = now.index(key[0], layout.run_folder(key[1], entry.name)).values()
    file = next((each.spec for each in entries if each.spec.startswith(f"{JOBS}/{key[1]}/{key[2]}.yaml")), None)
    value = plain(spec(file)[1], file) if file else None
    former = value.get("renamedFrom") if isinstance(value, dict) else None
    return former if isinstance(former, str) else ""


def reasons(now: Snapshot, key: JobKey, entry: Entry, spec: Spec) -> tuple[str, ...]:
    """Return the fields of the job's file that changed; nothing where a program makes the job."""
    entries = now.index(key[0], layout.run_folder(key[1], entry.name)).values()
    file = next((each.spec for each in entries if each.spec.endswith(".yaml")), None)
    if file is None:
        return ()
    before, after = (plain(data, file) for data in spec(file))
    return tuple(name for name in changed_keys(before, after) if name not in OUTSIDE_DIGEST)


def shapes(side: Snapshot, runs: Mapping[JobKey, Entry]) -> dict[JobKey, Shape]:
    """Return what runs are."""
    files = {key: files_of(side, key, entry) for key, entry in runs.items()}
    contents = iter(side.read([oid for found in files.values() for oid in found.values()]))
    return {key: shape([plain(next(contents), name) for name in found]) for key, found in files.items()}


def plain(data: bytes | None, file: str) -> Any:
    """Return the first document of a file."""
    documents, _ = load(data or b"", file=file)
    return documents[0].value if documents else None


def object_effects(base: Snapshot, now: Snapshot) -> Iterator[ObjectEffect]:
    """Yield what happens to each object of every folder but those of runs."""
    before, after = objects(base, now), objects(now, base)
    for place in sorted({*before, *after}):
        cluster, folder, name = place
        old, new = before.get(place), after.get(place)
        path = f"{cluster}/{folder}/{name}"
        if old is None and new is not None:
            yield ObjectEffect("adds", cluster, folder, new.ref)
        elif old is not None and new is None:
            kept = old.kind in PROTECTED and b"Prune=false" in (base.text(path) or b"")
            yield ObjectEffect("removes", cluster, folder, old.ref, kept=kept)
        elif new is not None and base.files.get(path) != now.files.get(path):
            found = list(differences(plain(base.text(path), path), plain(now.text(path), path)))
            yield ObjectEffect("changes", cluster, folder, new.ref, tuple(found[:SHOWN]), max(0, len(found) - SHOWN))


def objects(side: Snapshot, other: Snapshot) -> dict[tuple[str, str, str], index.Entry]:
    """Return the index entries, by cluster, folder and file name, of the folders that differ from the other side."""
    found: dict[tuple[str, str, str], index.Entry] = {}
    for cluster, folder in changed_folders(side, other):
        for name, entry in side.index(cluster, folder).items():
            found[cluster, folder, name] = entry
    return found


def changed_folders(one: Snapshot, two: Snapshot) -> list[tuple[str, str]]:
    """Return cluster and folder, runs apart, of every file that is not the same on both sides."""
    paths = (path for path in {*one.files, *two.files} if one.files.get(path) != two.files.get(path))
    found = set()
    for path in paths:
        cluster, _, rest = path.partition("/")
        if rest.startswith((layout.INDEX, layout.LEDGER)):
            rest = layout.indexed(rest) + "/"
        folder = rest.rpartition("/")[0]
        if folder and not (folder.startswith(layout.RUNS) and folder.count("/") > 1):
            found.add((cluster, folder))
    return sorted(found)

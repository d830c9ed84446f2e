"""Changes of the platform's files since the base, one field at a time: what goes away when a field is put back."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from trainyard.base.credentials import hides
from trainyard.base.documents import Document, load
from trainyard.base.documents.layered import Layered
from trainyard.base.errors import ToolError
from trainyard.base.findings import PLATFORM, Finding, Location, Path, format_path, rank
from trainyard.base.rules import Rule
from trainyard.base.system import files
from trainyard.base.system import git as system_git
from trainyard.base.system.repository import JOBS
from trainyard.judge.causes import edits
from trainyard.judge.causes.names import NOUNS, noun
from trainyard.judge.causes.repairs import Repair, Values, key_of, value_of
from trainyard.judge.causes.trial import MODELS, Gone, with_spec
from trainyard.judge.causes.words import hit, users
from trainyard.render.tree.commit import base_of
from trainyard.render.tree.spec_files import spec_files
from trainyard.specs.load import Loaded
from trainyard.specs.reading import document
from trainyard.specs.reading.bases import ABSTRACT, is_abstract
from trainyard.specs.sources import Source

BREAKS = Rule(
    id="spec/breaks-others",
    title="A change of clusters, teams or settings leaves the files that it does not touch right.",
    why="whoever wrote those files did not change anything, and cannot know why they are refused",
    fix="revert the change of this line, or change the other files with it",
    source="docs/validation.md",
    may_warn=True,
)

MOST = 24
"""Changed fields that are put back one by one; of more, none is."""

LONGEST = 40
"""Letters of a value that a sentence shows."""


@dataclass(frozen=True)
class Change:
    """A field that is not as at the base; `renamed` is the key under which the same stands now."""

    path: Path
    before: Any
    after: Any
    renamed: str = ""


def differences(before: Any, after: Any, path: Path = ()) -> Iterator[Change]:
    """Yield the fields in which two values differ, a key with another name as one."""
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for at, (was, now) in enumerate(zip(before, after, strict=True)):
            yield from differences(was, now, (*path, at))
        return
    if not (isinstance(before, dict) and isinstance(after, dict)):
        if before != after:
            yield Change(path, before, after)
        return
    gone, new = [key for key in before if key not in after], [key for key in after if key not in before]
    for key in gone:
        twin = next((other for other in new if before[key] == after[other]), None)
        new = [other for other in new if other != twin]
        yield Change((*path, key), before[key], edits.NOTHING, twin or "")
    for key in new:
        yield Change((*path, key), edits.NOTHING, after[key])
    for key in before:
        if key in after:
            yield from differences(before[key], after[key], (*path, key))


@dataclass(frozen=True)
class Touched:
    """The files that a change touched; Git is asked once, when somebody looks."""

    loaded: Loaded
    ref: str | None
    """Where the base is."""
    jobs: frozenset[str]
    """Files of jobs that are looked at beside those of the platform."""

    @cached_property
    def files(self) -> Mapping[str, bytes | None]:
        """The files that are not as at the base, as they were there; nothing without a base."""
        return at_base(self.loaded, self.ref, self.jobs)

    def of(self, jobs: Collection[str] = ()) -> Mapping[str, bytes | None]:
        """Return those of the platform, and of some of the jobs."""
        return {file: data for file, data in self.files.items() if file not in self.jobs or file in jobs}


def at_base(loaded: Loaded, ref: str | None, jobs: Collection[str]) -> Mapping[str, bytes | None]:
    """Return the files of the platform, and of some jobs, that are not as at the base, as they were there."""
    try:
        git = system_git.find(loaded.root)
        if git is None:
            return {}
        commit = base_of(git, ref, revision=loaded.specs.repository.revision).commit
    except ToolError:
        return {}
    there = spec_files(git, commit) if commit else {}
    listed = {path: oid for path, oid in there.items() if rank(path) <= PLATFORM or path in jobs}
    before = dict(zip(listed, git.read(listed.values()), strict=True)) if listed else {}
    now = [*(source.file for source in loaded.specs.sources.values()), *jobs]
    every = dict.fromkeys([*before, *now] if commit else [])
    return {path: before.get(path) for path in every if files.read(loaded.root / path) != before.get(path)}


def reverts(loaded: Loaded, findings: list[Finding], before: Mapping[str, bytes | None]) -> Iterator[Repair]:
    """Yield for every changed field the repair that puts it back."""
    for file, data in before.items():
        key = key_of(file)
        was, value = value_in(file, data), value_of(loaded, key)
        if was is edits.NOTHING or key in loaded.broken:
            continue
        others = partial(untouched, file=file, touched=frozenset(before))
        if value is edits.NOTHING:
            say = partial(lost, file, key, loaded, others, was)
            yield Repair(partial(restored, key=key, value=was), say=say, since_base=True)
            continue
        for change, edit in ways_back(key, was, value):
            say = partial(broken, loaded.specs.sources[key], change, others)
            yield Repair(edit, standing(findings, file, change), say, since_base=True)


def fields_to_put_back(loaded: Loaded, before: Mapping[str, bytes | None]) -> Iterator[tuple[str, Change, Values]]:
    """Yield each changed field of files that can be read: its spec, the change, and how it is put back."""
    for file, data in before.items():
        key = key_of(file)
        was, value = value_in(file, data), own_value(loaded, key)
        if was is edits.NOTHING or value is edits.NOTHING or key in loaded.broken:
            continue
        yield from ((key, change, edit) for change, edit in ways_back(key, was, value))


def ways_back(key: str, was: Any, value: Any) -> Iterator[tuple[Change, Values]]:
    """Yield the changes of a spec, each with the edit that puts it back; none of one that is another altogether."""
    found = list(differences(was, value))
    for change in found if len(found) <= MOST else ():
        yield change, Values(((key, partial(put_back, change=change)),))


def changed_fields(loaded: Loaded, before: Mapping[str, bytes | None]) -> dict[str, tuple[str, ...]]:
    """Return the paths of the changed fields of each of these files, an empty path where all of it is new."""
    found = {}
    for file, data in before.items():
        now = files.read(loaded.root / file) if is_job(file) else None
        was, value = value_in(file, data), value_in(file, now) if is_job(file) else own_value(loaded, key_of(file))
        paths = [(*one.path[:-1], one.renamed) if one.renamed else one.path for one in differences(was, value)]
        found[file] = tuple(map(format_path, paths))
    return found


def own_value(loaded: Loaded, key: str) -> Any:
    """Return the value of a spec's own file, without the fields of its bases."""
    source = loaded.specs.sources.get(key)
    document = source.document if source else None
    return document.layers[0].value if isinstance(document, Layered) else value_of(loaded, key)


def is_job(file: str) -> bool:
    """Say whether a file is one of jobs."""
    return file.startswith(f"{JOBS}/")


def stands_in(finding: Finding, fields: Mapping[str, tuple[str, ...]], root: Finding) -> bool:
    """Say whether a finding stands at another changed field than its cause: whoever changed that can correct it."""
    path = finding.path or ""
    return any(
        not field or path == field or path.startswith((f"{field}.", f"{field}["))
        for field in fields.get(finding.location.file, ())
        if (finding.location.file, field) != (root.location.file, root.path)
    )


def value_in(file: str, data: bytes | None) -> Any:
    """Return the value of a file, NOTHING where it was not there or had nothing readable."""
    documents, _ = load(data or b"", file=file)
    return documents[0].value if len(documents) == 1 else edits.NOTHING


def put_back(value: Any, change: Change) -> Any:
    """Return a value with one field as it was."""
    if change.renamed:
        return edits.rename(value, change.renamed, str(change.path[-1]))
    return edits.put(value, change.path, change.before)


def restored(loaded: Loaded, key: str, value: Any) -> Loaded | None:
    """Return specs with one that is gone; one that has its content under another name goes for it."""
    kind, _, name = key.partition("/")
    file = f"platform/{kind}s/{name}.yaml"
    spec, _ = document.validate(MODELS[kind], Source(file, Document(file, 0, value)))
    former = twin(loaded, kind, value)
    return None if spec is None else with_spec(loaded, kind, name, spec, former=former)


def twin(loaded: Loaded, kind: str, value: Any) -> str:
    """Return the name of a spec of the same kind that says the same, an empty one where there is none."""
    for key, source in loaded.specs.sources.items():
        if key.startswith(f"{kind}/") and source.document is not None and source.document.value == value:
            return key.partition("/")[2]
    return ""


def standing(findings: list[Finding], file: str, change: Change) -> Finding | None:
    """Return the error that stands at a changed field or in it."""
    at = format_path((*change.path[:-1], change.renamed) if change.renamed else change.path)
    inside = (f"{at}.", f"{at}[")
    errors = [finding for finding in findings if finding.is_error and finding.location.file == file and finding.path]
    return next((item for item in errors if item.path == at or (item.path or "").startswith(inside)), None)


def untouched(gone: Gone, file: str, touched: frozenset[str]) -> list[Finding]:
    """Return the errors in files that this change does not touch."""
    return [finding for finding in gone.errors if finding.location.file not in {file, *touched}]


def broken(source: Source, change: Change, others: Callable[[Gone], list[Finding]], gone: Gone) -> Finding | None:
    """Return the error at a changed line, None where nothing follows from it in files that were not touched."""
    errors = others(gone)
    if not errors:
        return None
    return BREAKS.at(source, place_of(change), write_message(change, errors, gone.runs), key=True)


def place_of(change: Change) -> Path:
    """Return the field that stands where a change was made: of one that is gone, the field that held it."""
    if change.renamed:
        return (*change.path[:-1], change.renamed)
    return change.path[:-1] if change.after is edits.NOTHING else change.path


def write_message(change: Change, errors: list[Finding], runs: Collection[str], *, does: str = "breaks") -> str:
    """Return the sentence on a change of a field and the files that it breaks, or on what else it `does` to them."""
    name = change.path[-1] if change.path else ""
    what = f"{noun(change.path)} {name!r}"
    if change.renamed:
        return f"{what} was renamed to {change.renamed!r} here, but {users(errors, runs)} it"
    if is_name(change.before) and is_name(change.after) and noun(change.path) in NOUNS.values():
        return (
            f"{noun(change.path)} {change.before!r} was renamed to {change.after!r} here, but {users(errors, runs)} it"
        )
    if change.after is edits.NOTHING:
        return f"{what} was removed here, but {users(errors, runs)} it"
    if change.before is edits.NOTHING:
        return f"{format_path(change.path)} was added here, which {does} {hit(errors, runs)}"
    values = f"from {shorten(change.before)} to {shorten(change.after)}"
    return f"{format_path(change.path)} changed {values} here, which {does} {hit(errors, runs)}"


def lost(
    file: str, key: str, loaded: Loaded, others: Callable[[Gone], list[Finding]], value: Any, gone: Gone
) -> Finding | None:
    """Return the error of a file that is gone, None where nothing follows from that."""
    errors = others(gone)
    if not errors:
        return None
    kind, _, name = key.partition("/")
    hurt = users(errors, gone.runs)
    if new := twin(loaded, kind, value):
        message = f"{kind} {name!r} was renamed to {new!r} here, but {hurt} it"
        return BREAKS.at(loaded.specs.sources[f"{kind}/{new}"], (), message)
    now = load(files.read(loaded.root / file) or b"", file=file)[0]
    if kind == "cluster" and len(now) == 1 and is_abstract(source := Source(file, now[0])):
        return BREAKS.at(source, (ABSTRACT,), f"cluster {name!r} was made abstract here, but {hurt} it", key=True)
    return BREAKS.of(Location(file, 1, 1), f"{kind} {name!r} was removed by this change, but {hurt} it")


def is_name(value: Any) -> bool:
    """Say whether a value is a short text, as names are."""
    return isinstance(value, str) and len(value) <= LONGEST


def shorten(value: Any) -> str:
    """Return a value as a sentence shows it, a long one by its beginning."""
    text = json.dumps(value, ensure_ascii=False, default=str) if not isinstance(value, str) else repr(value)
    text = hides(text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"

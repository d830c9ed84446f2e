"""Names that many files use and nobody declares, while one much like it is declared and used by nobody."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any

from trainyard.base.findings import Finding, Path, format_path
from trainyard.base.limits import NAME_LETTERS
from trainyard.base.rules import Rule
from trainyard.base.system import files
from trainyard.judge.causes import edits
from trainyard.judge.causes.repairs import Edit, Repair, Values, key_of, name_at, one, proposed, value_of
from trainyard.judge.causes.trial import Gone, is_of_platform, with_spec
from trainyard.judge.causes.words import users
from trainyard.specs.load import Loaded
from trainyard.specs.models.team import Team
from trainyard.specs.sources import JobFile, Source

MISNAMED = Rule(
    id="spec/misnamed",
    title="A name is declared as the files that use it spell it.",
    why="what uses the other name cannot be checked, and nothing uses the declared one",
    fix="rename the declaration, or correct the name where it is used",
    source="docs/validation.md",
)

CUTOFF = 0.75
"""How alike two names are of which one may be the other misspelt (difflib)."""

NOUNS = {
    "pools": "pool",
    "queues": "queue",
    "cohorts": "cohort",
    "priorities": "priority",
    "storage": "storage",
    "volumes": "volume",
    "drivers": "driver",
    "operators": "operator",
    "topology": "level",
    "secrets": "secret",
    "serviceAccounts": "service account",
    "registries": "registry",
}
"""What the names in a field are names of."""

STAND_IN = Team(group="unknown")
"""A team whose file is missing."""

FILES = {"cluster": "clusters", "team": "teams"}


def noun(path: Path) -> str:
    """Return the noun for the last name of a path: `pool` for `pools.h100`."""
    outer = next((part for part in reversed(path[:-1]) if isinstance(part, str)), "")
    return NOUNS.get(outer, f"{outer} entry" if outer else "field")


def renames(loaded: Loaded, findings: list[Finding], unexplained: list[Finding]) -> Iterator[Repair]:
    """Yield a repair for every declaration that may have the wrong name, and for every team that lacks its file."""
    texts = [text for place in loaded.places if (text := files.read(loaded.root / place.path))]
    missing = missing_names(loaded, unexplained)
    for (key, name), uses in sorted(missing.items(), key=lambda item: (-len(item[1]), item[0])):
        source, value = loaded.specs.sources.get(key), value_of(loaded, key)
        if source is None or value is edits.NOTHING or key in loaded.broken:
            continue
        for path, old in near_names(value, name):
            if not is_used(old, texts):
                edit = Values(((key, partial(edits.rename, old=old, new=name)),))
                say = partial(misnamed, source, path, f"{noun(path)} {old!r}", name)
                yield Repair(edit, error_at(findings, source.file, path), say, unless=as_declared(uses, value, old))
    yield from of_files(loaded, texts)
    yield from of_teams(loaded, findings)


def error_at(findings: Iterable[Finding], file: str, path: Path) -> Finding | None:
    """Return the error that stands at a field already."""
    where = format_path(path)
    return next((item for item in findings if item.is_error and (item.location.file, item.path) == (file, where)), None)


def missing_names(loaded: Loaded, findings: list[Finding]) -> Mapping[tuple[str, str], list[Finding]]:
    """Return the errors that stand at a name which may be declared nowhere, by the spec that lacks it and the name."""
    jobs: dict[str, list[JobFile]] = {}
    for file in loaded.specs.jobs:
        jobs.setdefault(file.source.file, []).append(file)
    found: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        if not finding.is_error or not finding.path:
            continue
        if is_of_platform(finding):
            key = key_of(finding.location.file)
            value = value_of(loaded, key)
            asked = [(key, name_at(value, edits.path_of(value, finding.path)))]
        else:
            asked = [
                item for job in jobs.get(finding.location.file, ()) for item in asked_by(loaded, job, finding.path)
            ]
        for key, name in dict.fromkeys(asked):
            if name is not None and len(name) <= NAME_LETTERS:
                found.setdefault((key, name), []).append(finding)
    return found


def asked_by(loaded: Loaded, job: JobFile, path: str) -> Iterator[tuple[str, str | None]]:
    """Yield the names that a field of a job may lack: its own, and those that its team's file names of the cluster."""
    document, cluster, team = job.source.document, f"cluster/{job.job.cluster}", f"team/{job.team}"
    value = document.value if document else job.job.model_dump(mode="json", by_alias=True)
    name = name_at(value, edits.path_of(value, path))
    if name is not None:
        yield from ((key, part) for key in (cluster, team, "repository") for part in (name, name.partition("/")[0]))
    yield from ((cluster, item) for _, item in edits.fields(value_of(loaded, team)) if isinstance(item, str))


def near_names(value: Any, name: str) -> Iterator[tuple[Path, str]]:
    """Yield the names that a spec declares and that may be another one misspelt, which it does not declare beside."""
    there = [(path, path[-1]) for path, _ in edits.fields(value) if isinstance(path[-1], str)]
    there += [(path, item) for path, item in edits.fields(value) if isinstance(path[-1], int) and isinstance(item, str)]
    beside = {path[:-1] for path, word in there if word == name}
    words = sorted({str(word) for path, word in there if path[:-1] not in beside and len(str(word)) <= NAME_LETTERS})
    near = set(get_close_matches(name, words, n=3, cutoff=CUTOFF)) - {name}
    yield from ((path, str(word)) for path, word in there if word in near and path[:-1] not in beside)


def as_declared(uses: list[Finding], value: Any, old: str) -> Edit | None:
    """Return the repair of the only use of a name, in the file that declares another; None where there are more."""
    if len(uses) != 1 or not is_of_platform(uses[0]):
        return None
    use = uses[0]
    return one(use, partial(proposed, path=edits.path_of(value, use.path or ""), near=old, message=use.message))


def of_files(loaded: Loaded, texts: list[bytes]) -> Iterator[Repair]:
    """Yield a repair for every cluster and team whose file may have the wrong name."""
    specs = loaded.specs
    wanted = {"cluster": {job.job.cluster for job in specs.jobs}, "team": {job.team for job in specs.jobs}}
    for kind, asked in wanted.items():
        there = getattr(specs, FILES[kind])
        for name in sorted(asked - set(there)):
            for old in get_close_matches(name, sorted(set(there) - asked), n=3, cutoff=CUTOFF):
                if f"{kind}/{name}" not in loaded.broken and not is_used(old, texts):
                    say = partial(misnamed, specs.sources[f"{kind}/{old}"], (), f"{kind} {old!r}", name)
                    yield Repair(partial(moved, kind=kind, old=old, new=name), say=say)


def of_teams(loaded: Loaded, findings: Iterable[Finding]) -> Iterator[Repair]:
    """Yield a repair for every team with jobs and without a file: one, at the first error that it takes away."""
    specs = loaded.specs
    for name in sorted({job.team for job in specs.jobs} - set(specs.teams)):
        if f"team/{name}" not in loaded.broken:
            said = (item for item in findings if item.is_error and f"team {name!r} has no file" in item.message)
            first = min(said, key=lambda item: item.order, default=None)
            if first is not None:
                yield Repair(partial(with_spec, kind="team", name=name, spec=STAND_IN), first)


def moved(loaded: Loaded, kind: str, old: str, new: str) -> Loaded:
    """Return specs in which a cluster or a team has another name."""
    return with_spec(loaded, kind, new, getattr(loaded.specs, FILES[kind])[old], former=old)


def is_used(name: str, texts: list[bytes]) -> bool:
    """Say whether a name is a whole value in any of these texts, of YAML or of Python."""
    word = re.escape(name.encode())
    plain = rb"(?:[:\[,{]\s*|-\s+)" + word + rb"\s*(?:[,\]}#\r\n]|$)"
    value = re.compile(plain + rb"|[\"']" + word + rb"[\"'](?!\s*:)")
    return any(value.search(text) for text in texts)


def misnamed(source: Source, path: Path, what: str, name: str, gone: Gone) -> Finding:
    """Return the error at a declaration whose name nobody uses."""
    message = f"nothing uses {what}; did you mean {name!r}, which {users(gone.errors, gone.runs)}?"
    return MISNAMED.at(source, path, message, key=True)

"""Names that many files use and nobody declares, while one much like it is declared and used by nobody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from trainyard.base.findings import Finding, Path
from trainyard.base.rules import Rule
from trainyard.base.system import files
from trainyard.judge.causes import edits
from trainyard.judge.causes.repairs import Repair, missing_names, near_keys, proposed, with_edit
from trainyard.judge.causes.trial import Edit, Gone, is_of_platform, with_spec, with_value
from trainyard.judge.causes.words import users
from trainyard.specs.load import Loaded
from trainyard.specs.sources import Source

MISNAMED = Rule(
    id="spec/misnamed",
    title="A name is declared as the files that use it spell it.",
    why="what uses the other name cannot be checked, and nothing uses the declared one",
    fix="rename the declaration, or correct the name where it is used",
    source="docs/validation.md",
)

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
}
"""What is declared in a map of that name."""

FILES = {"cluster": "clusters", "team": "teams"}


def noun(path: Path) -> str:
    """Return what a path's last name is the name of."""
    outer = next((part for part in reversed(path[:-1]) if isinstance(part, str)), "")
    return NOUNS.get(outer, "name" if not outer else f"{outer} entry")


def renames(loaded: Loaded, findings: list[Finding]) -> Iterator[Repair]:
    """Yield a repair for every declaration that may have the wrong name."""
    texts = [text for place in loaded.places if (text := files.read(loaded.root / place.path))]
    missing = missing_names(loaded, findings)
    for (key, name), uses in sorted(missing.items(), key=lambda item: (-len(item[1]), item[0])):
        source = loaded.specs.sources.get(key)
        if source is None or source.document is None or key in loaded.broken:
            continue
        value = source.document.value
        for path in near_keys(value, name):
            if not is_used(str(path[-1]), texts):
                edit = partial(with_value, name=key, value=edits.rename(value, str(path[-1]), name))
                yield Repair(edit, say=partial(misnamed, source, path, name), unless=as_declared(value, uses, path))
    yield from of_files(loaded, texts)


def as_declared(value: Any, uses: list[Finding], path: Path) -> Edit | None:
    """Return the repair of the only use of a name, in the file that declares another; None where there are more."""
    if len(uses) != 1 or not is_of_platform(uses[0]):
        return None
    return with_edit(uses[0], proposed(value, edits.path_of(value, uses[0].path or ""), str(path[-1])))


def of_files(loaded: Loaded, texts: list[bytes]) -> Iterator[Repair]:
    """Yield a repair for every cluster and team whose file may have the wrong name."""
    specs = loaded.specs
    wanted = {"cluster": {job.job.cluster for job in specs.jobs}, "team": {job.team for job in specs.jobs}}
    for kind, names in wanted.items():
        there = getattr(specs, FILES[kind])
        for name in sorted(names - set(there)):
            for old in there:
                if f"{kind}/{name}" not in loaded.broken and old not in names and not is_used(old, texts):
                    edit = partial(moved, kind=kind, old=old, new=name)
                    yield Repair(edit, say=partial(misnamed, specs.sources[f"{kind}/{old}"], (), name, kind=kind, old=old))


def moved(loaded: Loaded, kind: str, old: str, new: str) -> Loaded:
    """Return specs in which a cluster or a team has another name."""
    return with_spec(loaded, kind, new, getattr(loaded.specs, FILES[kind])[old], former=old)


def is_used(name: str, texts: list[bytes]) -> bool:
    """Say whether a name stands as a word in any of these texts."""
    word = re.compile(rb"(?<![\w./-])" + re.escape(name.encode()) + rb"(?![\w./-])")
    return any(word.search(text) for text in texts)


def misnamed(source: Source, path: Path, name: str, gone: Gone, *, kind: str = "", old: str = "") -> Finding:
    """Return the error at a declaration whose name nobody uses."""
    errors = [finding for finding in gone.findings.values() if finding.is_error]
    what = f"{kind or noun(path)} {(str(path[-1]) if path else old)!r}"
    message = f"nothing uses {what}, but {users(errors)} {name!r}; did you mean {name!r}?"
    return MISNAMED.at(source, path, message, key=True)

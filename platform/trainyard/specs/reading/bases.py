"""Clusters that extend another: the file's value over those of its bases, and what is wrong with the chain.

Maps merge by key, lists and everything else replace, and null removes. `abstract` is not handed down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from trainyard.base.documents.layered import Layered, idle_nulls, layer
from trainyard.base.findings import Finding, did_you_mean
from trainyard.specs.reading.rules import RULES
from trainyard.specs.sources import Source

BASE, ABSTRACT = "base", "abstract"
OWN = frozenset({BASE, ABSTRACT, "description"})
"""Fields that say something of their own file alone."""

Files = Callable[[str], Source | None]
"""The source of a cluster's file by its name, None where there is none."""


def extend(name: str, source: Source, read: Files, names: frozenset[str]) -> tuple[Source, list[str], list[Finding]]:
    """Return a cluster's source with the fields of its bases, their names, and what is wrong with them.

    `names` are those of all clusters. Without a base the source comes back as it is.
    """
    chain = [source]
    found: list[str] = []
    while (base := own_field(chain[-1], BASE)) is not None:
        if not isinstance(base, str):
            break
        at = chain[-1]
        if base == name or base in found:
            message = f"base {base!r} leads back to this cluster; remove base from one of their files"
            return source, found, [RULES["base-cycle"].at(at, (BASE,), message)]
        below = read(base) if base in names else None
        if below is None:
            others = did_you_mean(base, names - {name})
            return source, found, [RULES["base-missing"].at(at, (BASE,), f"base {base!r} does not exist; {others}")]
        found.append(base)
        if below.document is None or not isinstance(below.document.value, dict):
            return source, found, [RULES["base-missing"].at(at, (BASE,), f"base {base!r} cannot be read; correct it")]
        chain.append(below)
    documents = [one.document for one in chain if one.document is not None]
    if len(documents) < 2:
        return source, found, []
    return Source(source.file, layer(documents, own=OWN)), found, []


def check_nulls(source: Source) -> Iterator[Finding]:
    """Yield the nulls of a cluster with a base that remove nothing: what they were meant for stays."""
    if isinstance(source.document, Layered):
        for path, there in idle_nulls(source.document, OWN):
            name = str(path[-1])
            near = did_you_mean(name, map(str, there))
            hint = near if near.startswith("did you mean") else "remove it"
            message = f"no base has {name!r} here, so null removes nothing; {hint}"
            yield RULES["base-null"].at(source, path, message, key=True)


def is_abstract(source: Source) -> bool:
    """Whether a file is only a base, so that no cluster comes of it."""
    return own_field(source, ABSTRACT) is True


def own_field(source: Source, field: str) -> Any:
    """Return the value of a field of the root in a file itself, None where it has none."""
    value = source.document.value if source.document else None
    return value.get(field) if isinstance(value, dict) else None

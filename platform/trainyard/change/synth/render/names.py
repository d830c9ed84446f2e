"""File names of objects: `<kind>.<name>.yaml`, apart from each other on every file system."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from trainyard.base.manifests import Identity

UNSAFE = re.compile(r"[^a-z0-9.-]")
LONGEST = 200
"""Longest stem in characters; file systems allow 255 bytes for a name."""


def file_names(identities: Sequence[Identity]) -> dict[Identity, str]:
    """Return a file name for every object of one folder, whatever their order.

    A name has the namespace, then the API group too, only where it would else be another object's; should that not
    do, a digest of all four. Names differ also where the file system does not tell `A` from `a`. Raises ValueError
    where one object is there twice.
    """
    twice = [identity for identity, count in Counter(identities).items() if count > 1]
    if twice:
        raise ValueError(f"{twice[0].kind} {twice[0].name!r} exists twice; rename one")
    names: dict[Identity, str] = {}
    taken: set[str] = set()
    waiting = list(identities)
    for form in (_short, _with_namespace, _with_group, _with_digest):
        stems = {identity: form(identity) for identity in waiting}
        counts = Counter(stems.values())
        found = {
            identity: f"{stem}.yaml" for identity, stem in stems.items() if counts[stem] == 1 and stem not in taken
        }
        names.update(found)
        taken.update(stems[identity] for identity in found)
        waiting = [identity for identity in waiting if identity not in found]
    return names


def _short(identity: Identity) -> str:
    return _stem(identity.kind.lower(), identity.name)


def _with_namespace(identity: Identity) -> str:
    return _stem(identity.kind.lower(), identity.namespace, identity.name)


def _with_group(identity: Identity) -> str:
    return _stem(identity.kind.lower(), identity.group, identity.namespace, identity.name)


def _with_digest(identity: Identity) -> str:
    return f"{_with_group(identity)}.{_digest(identity)}"


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _stem(*parts: str) -> str:
    """Join the parts that are there; what a file system might refuse or fold becomes `_` and its bytes in hex."""
    text = ".".join(UNSAFE.sub(_escape, part) for part in parts if part)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 17]}.{_digest(parts)}"


def _escape(match: re.Match[str]) -> str:
    return "".join(f"_{byte:02x}" for byte in match.group().encode())

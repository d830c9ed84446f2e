"""The field of a spec that a field of a rendered object follows from: each is changed, and rendered again.

Nothing lists which field becomes which: a field is the origin of what changes with it, whatever is between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from trainyard.base.findings import Path, format_path
from trainyard.base.manifests import Identity, value_at
from trainyard.specs.models.base import Spec

MOST = 300
"""Fields that are changed at most, of a spec that has more; those that an object is known to come from are first."""

PROBES: tuple[Any, ...] = (7, "7Gi", "traced")
"""Values of fields that a spec does not set."""

ABSENT = object()

S = TypeVar("S", bound=Spec)

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Origin:
    """A field of a spec, and whether its value is the object's as it is written."""

    path: Path
    same: bool


@dataclass(frozen=True)
class SpecText:
    """A spec as it is written, and how objects are rendered from it."""

    value: Mapping[str, Any]
    model: type[Spec]
    render: Callable[[Any], Mapping[Identity, Object]]


def trace(spec: SpecText, identity: Identity, field: Path, near: Path = ()) -> Origin | None:
    """Return the field of a spec that a field of one of its objects follows from, None where none is found.

    `near` is the field that the object as a whole comes from. Of several fields the one that changes least else.
    """
    before = rendered(spec, spec.value)
    now = value_at(before.get(identity), field, ABSENT)
    if now is ABSENT:
        return None
    below = [path for path in leaves(spec.value) if path[: len(near)] == near]
    others = [path for path in leaves(spec.value) if path[: len(near)] != near]
    for paths in (below, others, unset(spec)):
        found = [item for path in paths[:MOST] if (item := changed(spec, path, identity, field, now, before))]
        if found:
            return min(found, key=lambda item: item[0])[1]
    return None


def changed(
    spec: SpecText, path: Path, identity: Identity, field: Path, now: Any, before: Mapping[Identity, Object]
) -> tuple[int, Origin] | None:
    """Return how much of the object changes with a field of the spec; None where what is asked about does not."""
    for other in others_of(value_at(spec.value, path, ABSENT)):
        after = rendered(spec, with_value(spec.value, path, other)).get(identity)
        if after is None:
            continue
        new = value_at(after, field, ABSENT)
        if new == now:
            return None
        return differences(before[identity], after), Origin(path, same=new is not ABSENT and str(new) == str(other))
    return None


def rendered(spec: SpecText, value: Mapping[str, Any]) -> Mapping[Identity, Object]:
    """Return the objects of a spec, none where nothing can be rendered from it."""
    try:
        return spec.render(spec.model.model_validate(value, by_alias=True, by_name=False))
    except Exception:  # noqa: BLE001  # nobody wrote this value, so what it stops is no problem
        return {}


def leaves(value: Any, path: Path = ()) -> list[Path]:
    """Return the path of every value of a spec that holds no others."""
    items: Iterator[tuple[str | int, Any]]
    if isinstance(value, Mapping):
        items = iter(value.items())
    elif isinstance(value, list):
        items = iter(enumerate(value))
    else:
        return [path]
    return [leaf for key, item in items for leaf in leaves(item, (*path, key))]


def unset(spec: SpecText) -> list[Path]:
    """Return the fields that a spec does not set."""
    names = (info.alias or name for name, info in spec.model.model_fields.items())
    return [(name,) for name in names if name not in spec.value]


def others_of(value: Any) -> Iterator[Any]:
    """Yield values that may stand in place of one."""
    if value is ABSENT:
        yield from PROBES
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value + 1, value * 2, value - 1, value / 2)
    elif isinstance(value, str):
        digits = re.search(r"\d+", value)
        if digits:
            yield f"{value[: digits.start()]}{int(digits[0]) + 1}{value[digits.end() :]}"
        yield from (f"{value}x", f"x{value}")
    yield ABSENT


def with_value(value: Any, path: Path, new: Any) -> Any:
    """Return a copy of a value with another one at a path, or without what stands there."""
    if not path:
        return new
    head, *rest = path
    if isinstance(value, list):
        items = [with_value(item, tuple(rest), new) if index == head else item for index, item in enumerate(value)]
        return [item for item in items if item is not ABSENT]
    copied = dict(value)
    inner = with_value(copied.get(str(head), ABSENT), tuple(rest), new)
    if inner is ABSENT:
        copied.pop(str(head), None)
    else:
        copied[str(head)] = inner
    return copied


def differences(one: Any, other: Any) -> int:
    """Return the number of values in which two differ."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return sum(
            differences(one.get(key), other.get(key)) for key in {*one, *other} if one.get(key) != other.get(key)
        )
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return sum(differences(*pair) for pair in zip(one, other, strict=True))
    return int(one != other)


def in_words(message: str, field: str, origin: Origin) -> str:
    """Return a message about a field of an object as one about the field of the spec that it follows from."""
    subject, space, rest = message.partition(" ")
    if not space or not (field == subject or field.endswith(f".{subject}")):
        return message
    name, amount = format_path(origin.path), rest.removeprefix("is ")
    if origin.same:
        return f"{name} {rest}"
    return f"{name} makes {subject} {amount}" if amount != rest else f"{name}: {message}"

"""Reading variables and fields.

A field that is absent is an error (`no such key: gpu`); `has` and `?.` ask instead. In an object of a custom
resource's schema a field that is null counts as absent.
Source: google/cel-go v0.26.0 interpreter/attributes.go; kubernetes/apiserver v0.35.4 pkg/cel/common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trainyard.upstream.apiserver.cel.errors import CelError, Unknown
from trainyard.upstream.apiserver.cel.logic import Frame, Run
from trainyard.upstream.apiserver.cel.values import ABSENT, NONE, Absent, Optional


@dataclass(frozen=True, slots=True)
class Step:
    """One field on the way: its key, and whether null counts as absent."""

    key: str
    null_is_absent: bool


def missing_field(key: str) -> CelError:
    """Say that a field is absent."""
    return CelError(f"no such key: {key}")


def variable(slot: int, name: str) -> Run:
    """Read a declared variable; one that is bound to Unknown makes the result unknown."""

    def run(frame: Frame) -> Any:
        value = frame[slot]
        if value.__class__ is Unknown:
            raise value
        if value.__class__ is Absent:
            raise CelError(f"no such attribute: {name}")
        return value

    return run


def local(slot: int) -> Run:
    """Read a name that the expression itself binds."""
    return lambda frame: frame[slot]


def selection(operand: Run, step: Step) -> Run:
    """Read a field."""
    key, null_is_absent = step.key, step.null_is_absent

    def run(frame: Frame) -> Any:
        container = operand(frame)
        try:
            value = container[key]
        except KeyError:
            raise missing_field(key) from None
        except TypeError:
            return indirect(container, step)
        if value is None and null_is_absent:
            raise missing_field(key)
        return value

    return run


def indirect(container: Any, step: Step) -> Any:
    """Read a field of an optional; of anything else that is no map there is none."""
    if isinstance(container, Optional):
        return optional(container, step)
    if isinstance(container, list):
        raise CelError("unsupported index type 'string' in list")
    raise missing_field(step.key)


def lookup(container: Any, step: Step) -> Any:
    """Return a field's value or ABSENT."""
    if isinstance(container, dict):
        value = container.get(step.key, ABSENT)
        return ABSENT if value is None and step.null_is_absent else value
    if isinstance(container, list):
        raise CelError("unsupported index type 'string' in list")
    return ABSENT


def optional(container: Any, step: Step) -> Optional:
    """Return a field as an optional."""
    if isinstance(container, Optional):
        if not container.present:
            return NONE
        container = container.value
    value = lookup(container, step)
    return NONE if value is ABSENT else Optional(value)


def optional_selection(operand: Run, step: Step) -> Run:
    """Build `operand.?field`."""
    return lambda frame: optional(operand(frame), step)


def presence(operand: Run, step: Step) -> Run:
    """Build `has(operand.field)`."""
    key = step.key
    if step.null_is_absent:

        def run(frame: Frame) -> bool:
            container = operand(frame)
            if container.__class__ is dict:
                return container.get(key) is not None
            return optional(container, step).present

        return run

    def run_any(frame: Frame) -> bool:
        container = operand(frame)
        if isinstance(container, dict):
            return key in container
        return optional(container, step).present

    return run_any

"""Finds what makes an expression false: the element of a list, or the entry of a map, on which `all` fails.

The server names the rule alone; with this, a finding can point at the container that broke it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trainyard.api.cel.compile import Compiler
from trainyard.api.cel.errors import CelError
from trainyard.api.cel.logic import Frame, Run
from trainyard.api.cel.syntax import Call, Fold, Node

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Culprit:
    """An element, and where it is in its list or map."""

    container: Any
    key: Any
    element: Any

    def path(self, root: Any) -> Path | None:
        """Return where the culprit is in an object, None where it is no part of it."""
        if isinstance(self.element, dict | list):
            found = path_to(root, self.element)
            if found is not None:
                return found
        found = path_to(root, self.container)
        return None if found is None else (*found, self.key)


def path_to(root: Any, part: Any) -> Path | None:
    """Return where a list or map is in an object: that very one, not one that is equal."""
    if root is part:
        return ()
    if not isinstance(root, dict | list):
        return None
    for key, value in root.items() if isinstance(root, dict) else enumerate(root):
        if (found := path_to(value, part)) is not None:
            return (key, *found)
    return None


Find = Callable[[Frame], Culprit | None]


def finder(compiler: Compiler, node: Node, *, wanted: bool = True) -> Find | None:
    """Build what finds the culprit of a node that is not as wanted; None where it has no parts to blame."""
    if isinstance(node, Fold) and node.kind == ("all" if wanted else "exists"):
        return of_fold(compiler, node, wanted=wanted)
    if not isinstance(node, Call):
        return None
    parts = node.arguments
    if node.function == "!_":
        return finder(compiler, parts[0], wanted=not wanted)
    if node.function in {"_&&_", "_||_"}:
        return of_junction(compiler, parts[0], parts[1], wanted=wanted)
    if node.function == "_?_:_":
        return of_choice(compiler, parts, wanted=wanted)
    return None


def of_fold(compiler: Compiler, node: Fold, *, wanted: bool) -> Find:
    """Blame the first element on which the body is not as wanted, or what is to blame within it."""
    source = compiler.run(node.source)
    slots, outer = compiler.bound(node.variables)
    body = compiler.run(node.body)
    within = finder(compiler, node.body, wanted=wanted)
    compiler.locals = outer

    def find(frame: Frame) -> Culprit | None:
        container = source(frame)
        pairs = container.items() if isinstance(container, dict) else enumerate(container)
        for key, element in pairs:
            frame[slots[0]] = key if len(slots) == 2 or isinstance(container, dict) else element
            if len(slots) == 2:
                frame[slots[1]] = element
            if not fulfilled(body, frame, wanted=wanted):
                return (within and within(frame)) or Culprit(container, key, element)
        return None

    return find


def of_junction(compiler: Compiler, left: Node, right: Node, *, wanted: bool) -> Find | None:
    """Blame the side that is not as wanted, the right one where both are."""
    sides = [(compiler.run(each), finder(compiler, each, wanted=wanted)) for each in (right, left)]
    if not any(find for _, find in sides):
        return None

    def find(frame: Frame) -> Culprit | None:
        for run, within in sides:
            if within is not None and not fulfilled(run, frame, wanted=wanted) and (found := within(frame)):
                return found
        return None

    return find


def of_choice(compiler: Compiler, parts: tuple[Node, ...], *, wanted: bool) -> Find | None:
    """Blame what was chosen."""
    condition = compiler.run(parts[0])
    then, otherwise = (finder(compiler, each, wanted=wanted) for each in parts[1:])

    def find(frame: Frame) -> Culprit | None:
        chosen = then if condition(frame) is True else otherwise
        return None if chosen is None else chosen(frame)

    return find if then or otherwise else None


def fulfilled(run: Run, frame: Frame, *, wanted: bool) -> bool:
    """Whether a part is as wanted; a part that fails is not."""
    try:
        return run(frame) is wanted
    except CelError:
        return False

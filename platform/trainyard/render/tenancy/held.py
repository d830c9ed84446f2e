"""Objects that a run's workload holds, as an AppWrapper holds a JobSet: each is what it may be alone.

Kueue counts the pods of kinds that the holder's operator knows: others would run beside every quota.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.findings import Path
from trainyard.base.manifests import identity_of
from trainyard.render.tenancy.metadata import NOTES_OF_OBJECTS, OF_PODS, metadata
from trainyard.render.tenancy.shapes import ANY, SERVED, About, Breach, Elsewhere, Fields, Items, Same, Shape
from trainyard.upstream.workloads import ANY as EACH
from trainyard.upstream.workloads import Carrier, carriers

META = metadata("objects", OF_PODS, NOTES_OF_OBJECTS, required=("name",), name=Same("run"), namespace=Same("namespace"))
"""Called as the run, in its namespace; the labels of the run stand at the holder."""


def holder(row: Carrier, specs: Mapping[tuple[str, str], Shape]) -> Fields:
    """Return the allowed fields of the `spec` of a kind that holds others; `specs` are those of the kinds of runs.

    Which pods there are is not declared: of the kinds that runs are made of, the operator knows it itself.
    """
    assert row.embeds is not None
    items, field = row.embeds[1], row.embeds[-1]
    component = Fields("a component", {str(field): Elsewhere(Held(row, specs)), "podSetInfos": SERVED})
    return Fields(f"an {row.kind}", {"suspend": ANY, str(items): Items(component)}, required=(str(items),))


def kinds_in(row: Carrier, specs: Mapping[tuple[str, str], Shape]) -> list[tuple[str, str]]:
    """Return the kinds of runs that another kind may hold."""
    return [key for key in specs if key in row.counts]


class Held(Shape):
    """A whole object in another one."""

    def __init__(self, row: Carrier, specs: Mapping[tuple[str, str], Shape]) -> None:
        self.row, self.specs = row, specs

    def breaches(self, value: Any, path: Path, _subject: str, about: About) -> Iterator[Breach]:
        """Look at the object as its kind asks for."""
        identity = identity_of(value) if isinstance(value, Mapping) else None
        shape = (
            held_object(self.specs[identity[:2]])
            if identity and identity[:2] in kinds_in(self.row, self.specs)
            else None
        )
        if identity is None or shape is None or f"{identity.group}/{identity.kind}" not in about.allowance.kinds:
            name = identity.kind[:63] if identity and identity.kind else "an object"
            message = f"a run may not hold {name} in its {self.row.kind}; put only the workload there"
            yield Breach("object", (*path, "kind"), message)
            return
        yield from shape.breaches(value, path, "object", about)

    def cel(self, x: str, depth: int = 0) -> str:
        """Ask for its kind and its metadata; the rest is asked of the objects one by one."""
        names = json.dumps([f"{group}/{kind}" for group, kind in kinds_in(self.row, self.specs)])
        kind = f"{x}.apiVersion.split('/')[0] + '/' + {x}.kind in {names}"
        fields = f"{x}.all(k{depth}, k{depth} in ['apiVersion', 'kind', 'metadata', 'spec', 'status'])"
        return f"({kind} && {fields} && has({x}.metadata) && has({x}.spec) && {META.cel(f'{x}.metadata', depth + 1)})"


def held_object(spec: Shape) -> Fields:
    """Return the shape of a held object."""
    fields = {"apiVersion": ANY, "kind": ANY, "metadata": META, "spec": spec, "status": ANY}
    return Fields("objects", fields, {"metadata": "object", "spec": "field"}, ("metadata", "spec"))


def held_kinds(specs: Mapping[tuple[str, str], Shape]) -> Iterator[tuple[tuple[str, str], str, str]]:
    """Yield each kind that holds others, the expression of what an object of it holds, and the condition on one."""
    for key, row in carriers().items():
        if row.embeds is not None and key in specs:
            place = row.embeds.index(EACH)
            items = "".join(f".?{step}" for step in row.embeds[:place])
            field = row.embeds[-1]
            expression = f"variables.whole{items}.orValue([]).map(item, has(item.{field}), item.{field})"
            yield key, expression, Held(row, specs).cel("h", 1)

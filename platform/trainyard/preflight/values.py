"""Whether the values that a cluster's file gives a chart are values that the chart reads, and of the right type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from trainyard.documents import Path, format_path
from trainyard.findings import Finding, did_you_mean
from trainyard.operators.base import Site, merge
from trainyard.operators.helm import Defaults, defaults
from trainyard.operators.install import sites
from trainyard.pods.resources import BASIC
from trainyard.rules import Rule
from trainyard.specs import Cluster
from trainyard.specs.sources import Source

EITHER = frozenset({"limits", "requests", "maxUnavailable", "minAvailable", "port", "targetPort", *BASIC})
"""Fields that Kubernetes takes as a number or as text."""

SWITCH, NUMBER, TEXT, MAP, LIST = "true or false", "a number", "text", "a map", "a list"

JSON_TYPES = {"boolean": SWITCH, "number": NUMBER, "integer": NUMBER, "string": TEXT, "object": MAP, "array": LIST}
"""Types of JSON Schema in words."""

HELM = "docs/clusters.md; the chart's values.yaml, in schemas/charts"

UNUSED = Rule(
    id="values/unused",
    title="Values are given to operators that are installed from here.",
    why="nobody reads them",
    fix="remove the values, or managed: false",
    source=HELM,
    layer="values",
)
NO_CHART = Rule(
    id="values/no-chart",
    title="Values are given to operators that have a chart.",
    why="nobody reads them",
    fix="remove the values",
    source=HELM,
    layer="values",
)
UNKNOWN = Rule(
    id="values/unknown",
    title="Every value is one that the chart reads.",
    why="a mistyped value is ignored without a word, and the chart's default holds",
    fix="correct the name",
    source=HELM,
    layer="values",
)
TYPE = Rule(
    id="values/type",
    title="Every value has the type that the chart expects.",
    why="the chart renders something else, or not at all",
    fix="write the value in the type of the chart's default",
    source=HELM,
    layer="values",
)
SCHEMA = Rule(
    id="values/schema",
    title="The values pass the chart's own schema.",
    why="Helm refuses to render the chart",
    fix="correct the value",
    source=HELM,
    layer="values",
)


def check(cluster: Cluster, source: Source, schemas: FilePath) -> Iterator[Finding]:
    """Yield every value of the cluster's operators that its chart does not read or that has another type there.

    Charts are judged by their own schema where they have one, else by the defaults that they ship.
    """
    for site in sites(cluster):
        values = site.choice.values
        if not values:
            continue
        path: Path = (*site.at, "values")
        shipped = defaults(site, schemas)
        if not site.choice.managed:
            yield UNUSED.at(source, path, f"{site.name} is not installed from here, so that its values do nothing")
        elif site.facts.chart is None:
            yield NO_CHART.at(source, path, f"{site.name} has no chart, so that its values do nothing; remove them")
        elif shipped is not None:
            judge = (
                validate(site, shipped, source) if shipped.schema else compare(site, values, shipped.values, (), source)
            )
            yield from judge


def compare(
    site: Site, values: Mapping[str, Any], shipped: Mapping[str, Any], inside: tuple[str, ...], source: Source
) -> Iterator[Finding]:
    """Yield unknown keys and wrong types of one map of values; an empty map of the chart takes anything."""
    for key, value in values.items():
        here = (*inside, key)
        path: Path = (*site.at, "values", *here)
        if key not in shipped:
            if inside or key != "global":
                yield from unknown(site, here, map(str, shipped), source)
            continue
        expected = shipped[key]
        wrong = mismatch(key, value, expected)
        if wrong is not None:
            message = f"value {'.'.join(here)!r} of {site.name} should be {wrong}, not {kind(value)}"
            yield TYPE.at(source, path, message)
        elif isinstance(value, Mapping) and isinstance(expected, Mapping) and expected:
            yield from compare(site, value, expected, here, source)


def unknown(site: Site, here: tuple[str, ...], choices: Iterable[str], source: Source) -> Iterator[Finding]:
    """Yield a key that the chart does not have, unless it is known to be read all the same."""
    dotted = ".".join(here)
    if any(dotted == name or dotted.startswith(f"{name}.") for name in site.facts.optional_values):
        return
    near = did_you_mean(here[-1], choices, limit=6)
    message = f"value {dotted!r} is none that the chart of {site.name} reads; {near}"
    yield UNKNOWN.at(source, (*site.at, "values", *here), message, key=True)


def mismatch(key: str, value: Any, expected: Any) -> str | None:
    """Return what the value should be, or None where it fits; null takes a default away and always fits."""
    if value is None or expected is None or key in EITHER:
        return None
    wanted, found = kind(expected), kind(value)
    return None if wanted == found else wanted


def kind(value: Any) -> str:
    """Return the type of a value in words."""
    if isinstance(value, bool):
        return SWITCH
    if isinstance(value, (int, float)):
        return NUMBER
    if isinstance(value, Mapping):
        return MAP
    return LIST if isinstance(value, (list, tuple)) else TEXT


def validate(site: Site, shipped: Defaults, source: Source) -> Iterator[Finding]:
    """Yield what the chart's own schema refuses in the values as given."""
    from jsonschema import Draft7Validator  # which takes long to import

    whole = merge(shipped.values, site.choice.values)
    for error in sorted(Draft7Validator(dict(shipped.schema)).iter_errors(whole), key=lambda each: list(each.path)):
        inside = tuple(error.absolute_path)
        if not given(site.choice.values, inside):
            continue
        if error.validator == "additionalProperties" and isinstance(error.schema, Mapping):
            choices = list(error.schema.get("properties", {}))
            for key in error.instance:
                if key not in choices:
                    yield from unknown(site, (*map(str, inside), str(key)), choices, source)
            continue
        wanted = JSON_TYPES.get(str(error.validator_value)) if error.validator == "type" else None
        found = (
            f"should be {wanted}, not {kind(error.instance)}" if wanted else f"is refused by rule {error.validator!r}"
        )
        message = f"value {format_path(inside)!r} of {site.name} {found}"
        yield (TYPE if wanted else SCHEMA).at(source, (*site.at, "values", *inside), message)


def given(values: Any, path: Path) -> bool:
    """Whether the cluster's file itself gives the value at a path, or a part of it."""
    for key in path:
        if not isinstance(values, Mapping) or key not in values:
            return False
        values = values[key]
    return True

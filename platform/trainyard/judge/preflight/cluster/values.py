"""Whether the values that a cluster's file gives a chart are values that the chart reads, and of the right type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from trainyard.base.documents import Path, format_path
from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER, CLUSTER_BESIDE, OneCluster
from trainyard.render.operators.base import Site, merge
from trainyard.render.operators.helm import Defaults, defaults
from trainyard.render.operators.install import sites
from trainyard.specs import Cluster
from trainyard.specs.sources import Source
from trainyard.upstream.apiserver.gates import KNOWN
from trainyard.upstream.pods.resources import BASIC

EITHER = frozenset({"limits", "requests", "maxUnavailable", "minAvailable", "port", "targetPort", *BASIC})
"""Fields that Kubernetes takes as a number or as text."""

SWITCH, NUMBER, TEXT, MAP, LIST = "true or false", "a number", "text", "a map", "a list"

JSON_TYPES = {"boolean": SWITCH, "number": NUMBER, "integer": NUMBER, "string": TEXT, "object": MAP, "array": LIST}
"""Types of JSON Schema in words."""

HELM = "docs/clusters.md; the chart's values.yaml, in schemas/charts"

UNUSED = Rule(
    id="values/unused",
    title="Values are set only for operators that Trainyard installs.",
    why="the values have no effect",
    fix="remove the values, or remove managed: false",
    source=HELM,
    layer="values",
)
NO_CHART = Rule(
    id="values/no-chart",
    title="Values are set only for operators that have a chart.",
    why="the values have no effect",
    fix="remove the values",
    source=HELM,
    layer="values",
)
UNKNOWN = Rule(
    id="values/unknown",
    title="Every value exists in the operator's chart.",
    why="Helm ignores a mistyped value silently, and the chart's default applies",
    fix="correct the name",
    source=HELM,
    layer="values",
)
TYPE = Rule(
    id="values/type",
    title="Every value has the type that the chart expects.",
    why="the chart renders something else, or fails",
    fix="use the type of the chart's default",
    source=HELM,
    layer="values",
)
SCHEMA = Rule(
    id="values/schema",
    title="The values are valid for the chart's own schema.",
    why="Helm refuses to render the chart",
    fix="correct the value",
    source=HELM,
    layer="values",
)


GATES = Rule(
    id="values/gates",
    title="Feature gates are named of operators that others install, as the operator names them.",
    why="checks go by the gates that are named there, and by the values of charts that Trainyard installs",
    fix="set the gate by a value of the chart, or correct its name",
    source="docs/clusters.md",
    layer="values",
    severity=Severity.WARNING,
)


@CLUSTER.check()
def check_gates(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield gates of operators that Trainyard installs, and names by which nothing is checked."""
    for site in sites(cluster):
        for name in site.choice.gates:
            path: Path = (*site.at, "gates", name)
            if site.choice.managed:
                values = [switches.value for switches in site.facts.gates if not switches.turns]
                instead = f"set values.{values[0]}" if values else "remove it: its chart sets no gates"
                message = f"gates has no effect, as Trainyard installs {site.name}; {instead}"
                yield GATES.at(source, path, message, key=True)
            elif name not in KNOWN:
                message = f"gate {name!r} of {site.name} changes no check; {did_you_mean(name, KNOWN)}"
                yield GATES.at(source, path, message, key=True)


@CLUSTER_BESIDE.check()
def check_charts(one: OneCluster) -> Iterator[Finding]:
    """Yield the problems with the values of charts."""
    return check(one.cluster, one.source, one.schemas)


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
            yield UNUSED.at(source, path, f"Trainyard does not install {site.name}, so its values have no effect")
        elif site.facts.chart is None:
            yield NO_CHART.at(source, path, f"{site.name} has no chart, so its values have no effect; remove them")
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
                yield from unknown_keys(site, here, map(str, shipped), source)
            continue
        expected = shipped[key]
        wrong = mismatch(key, value, expected)
        if wrong is not None:
            message = f"value {'.'.join(here)!r} of {site.name} must be {wrong}, not {kind(value)}"
            yield TYPE.at(source, path, message)
        elif isinstance(value, Mapping) and isinstance(expected, Mapping) and expected:
            yield from compare(site, value, expected, here, source)


def unknown_keys(site: Site, here: tuple[str, ...], choices: Iterable[str], source: Source) -> Iterator[Finding]:
    """Yield a key that the chart does not have, unless it is known to be read all the same."""
    dotted = ".".join(here)
    if any(dotted == name or dotted.startswith(f"{name}.") for name in site.facts.optional_values):
        return
    near = did_you_mean(here[-1], choices, limit=6)
    message = f"the chart of {site.name} does not read value {dotted!r}; {near}"
    yield UNKNOWN.at(source, (*site.at, "values", *here), message, key=True)


def mismatch(key: str, value: Any, expected: Any) -> str | None:
    """Return the type that the value should have, or None where it fits; null takes a default away and always fits."""
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
    """Yield the refusals of the chart's own schema for the values as given."""
    from jsonschema import Draft7Validator  # which takes long to import

    whole = merge(shipped.values, site.choice.values)
    for error in sorted(
        Draft7Validator(dict(shipped.schema)).iter_errors(whole), key=lambda one_error: list(one_error.path)
    ):
        inside = tuple(error.absolute_path)
        if not is_given(site.choice.values, inside):
            continue
        if error.validator == "additionalProperties" and isinstance(error.schema, Mapping):
            choices = list(error.schema.get("properties", {}))
            for key in error.instance:
                if key not in choices:
                    yield from unknown_keys(site, (*map(str, inside), str(key)), choices, source)
            continue
        wanted = JSON_TYPES.get(str(error.validator_value)) if error.validator == "type" else None
        found = f"must be {wanted}, not {kind(error.instance)}" if wanted else f"violates rule {error.validator!r}"
        message = f"value {format_path(inside)!r} of {site.name} {found}"
        yield (TYPE if wanted else SCHEMA).at(source, (*site.at, "values", *inside), message)


def is_given(values: Any, path: Path) -> bool:
    """Whether the cluster's file itself gives the value at a path, or a part of it."""
    for key in path:
        if not isinstance(values, Mapping) or key not in values:
            return False
        values = values[key]
    return True

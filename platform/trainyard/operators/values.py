"""Whether the values that a cluster's file gives a chart are values that the chart reads, and of the right type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from jsonschema import Draft7Validator

from trainyard.documents import Path, format_path
from trainyard.findings import Finding, did_you_mean
from trainyard.operators.base import Site, merge
from trainyard.operators.charts import Defaults, defaults
from trainyard.operators.install import sites
from trainyard.specs import Cluster
from trainyard.specs.run import Source

EITHER = frozenset(
    {"limits", "requests", "maxUnavailable", "minAvailable", "port", "targetPort", "cpu", "memory", "ephemeral-storage"}
)
"""Fields that Kubernetes takes as a number or as text."""

NUMBER = "a number"
TEXT = "text"


def check(cluster: Cluster, source: Source, schemas: FilePath) -> Iterator[Finding]:
    """Yield every value of the cluster's operators that its chart does not read or that has another type there.

    Charts are judged by the defaults that they ship, and by their own schema where they have one.
    """
    for site in sites(cluster):
        values = site.choice.values
        if not values:
            continue
        path: Path = (*site.at, "values")
        shipped = defaults(site, schemas)
        if not site.choice.managed:
            yield finding(
                "unused", f"{site.name} is not installed from here, so that its values do nothing", source, path
            )
        elif site.facts.chart is None:
            yield finding(
                "no-chart", f"{site.name} has no chart, so that its values do nothing; remove them", source, path
            )
        elif shipped is not None:
            yield from compare(site, values, shipped.values, (), source)
            yield from validate(site, shipped, source)


def compare(
    site: Site, values: Mapping[str, Any], shipped: Mapping[str, Any], inside: tuple[str, ...], source: Source
) -> Iterator[Finding]:
    """Yield unknown keys and wrong types of one map of values; an empty map of the chart takes anything."""
    for key, value in values.items():
        here = (*inside, key)
        path: Path = (*site.at, "values", *here)
        if key not in shipped:
            if inside or key != "global":
                yield from unknown(site, here, shipped, source)
            continue
        expected = shipped[key]
        wrong = mismatch(key, value, expected)
        if wrong is not None:
            message = f"value {'.'.join(here)!r} of {site.name} should be {wrong}, not {kind(value)}"
            yield finding("type", message, source, path)
        elif isinstance(value, Mapping) and isinstance(expected, Mapping) and expected:
            yield from compare(site, value, expected, here, source)


def unknown(site: Site, here: tuple[str, ...], shipped: Mapping[str, Any], source: Source) -> Iterator[Finding]:
    """Yield a key that the chart's defaults lack, unless it is known to be read all the same."""
    dotted = ".".join(here)
    if any(dotted == name or dotted.startswith(f"{name}.") for name in site.facts.optional_values):
        return
    near = did_you_mean(here[-1], map(str, shipped), limit=6)
    message = f"value {dotted!r} is none that the chart of {site.name} reads; {near}"
    yield finding("unknown", message, source, (*site.at, "values", *here), key=True)


def mismatch(key: str, value: Any, expected: Any) -> str | None:
    """Return what the value should be, or None where it fits; null takes a default away and always fits."""
    if value is None or expected is None or key in EITHER:
        return None
    wanted, found = kind(expected), kind(value)
    return None if wanted == found else wanted


def kind(value: Any) -> str:
    """Return the type of a value in words."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return NUMBER
    if isinstance(value, Mapping):
        return "a map"
    return "a list" if isinstance(value, (list, tuple)) else TEXT


def validate(site: Site, shipped: Defaults, source: Source) -> Iterator[Finding]:
    """Yield what the chart's own schema refuses in the values as given."""
    if not shipped.schema:
        return
    whole = merge(shipped.values, site.choice.values)
    for error in sorted(Draft7Validator(dict(shipped.schema)).iter_errors(whole), key=lambda each: list(each.path)):
        path = tuple(error.absolute_path)
        if error.validator in {"additionalProperties", "type"} or not given(site.choice.values, path):
            continue
        dotted = format_path(path)
        words = f"value {dotted!r} of {site.name} is refused by the chart's own schema: rule {error.validator!r}"
        yield finding("schema", words, source, (*site.at, "values", *path))


def given(values: Any, path: Path) -> bool:
    """Whether the cluster's file itself gives the value at a path, or a part of it."""
    for key in path:
        if not isinstance(values, Mapping) or key not in values:
            return False
        values = values[key]
    return True


def finding(rule: str, message: str, source: Source, path: Path, *, key: bool = False) -> Finding:
    """Return a finding at a value in the cluster's file."""
    return Finding(f"values/{rule}", "values", message, source.location(path, key=key), path=format_path(path))

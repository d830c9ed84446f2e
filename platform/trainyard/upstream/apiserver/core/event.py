"""Events: what both API groups ask of them, and what the newer one asks besides.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/events.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.core.shapes import Object, child, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Problem, Rule

_EVENTS = "k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/events.go"
EVENT = Rule(
    "core/event",
    f"{_EVENTS} ValidateEventCreate",
    title="An Event has its required fields, in the namespace of its object.",
    fix="set the missing field; use one namespace for the Event and its object",
)
EVENT_UPDATE = Rule(
    "update/event",
    f"{_EVENTS} ValidateEventUpdate",
    title="An update changes only the series of an Event.",
    fix="restore the other fields",
)

_OLD_FIELDS = {
    "involvedObject": "regarding",
    "reportingComponent": "reportingController",
    "message": "note",
    "count": "deprecatedCount",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
}
"""Fields of v1 and what they are called in events.k8s.io/v1."""
_FIXED = ("regarding", "reason", "note", "type", "eventTime", "action", "related", "reportingController")
_LONGEST, _LONGEST_NOTE = 128, 1024
_FEWEST = 2


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with an Event."""
    newer = value.get("apiVersion") != "v1"
    fields = {after: after if newer else before for before, after in _OLD_FIELDS.items()}
    yield from _check_both(value, fields)
    if not newer:
        return
    if old is None:
        yield from _check_newer(value)
        yield from _check_series(value)
        return
    if value.get("series") != old.get("series"):
        yield from _check_series(value)
    for field in (*_FIXED, "reportingInstance", "deprecatedSource", "deprecatedCount"):
        yield from check_immutable(value.get(field), old.get(field), (field,), EVENT_UPDATE)


def _check_both(value: Object, fields: dict[str, str]) -> Iterator[Problem]:
    """Yield the problems that both event groups refuse."""
    about, controller = fields["regarding"], fields["reportingController"]
    namespace = text(inner(value, "metadata"), "namespace") or "default"
    theirs = text(inner(value, about), "namespace")
    timed = value.get("eventTime") is not None
    if theirs != namespace if theirs and not timed else not theirs and namespace not in _anywhere(timed=timed):
        yield EVENT.invalid((about, "namespace"), theirs, "must be the Event's own namespace")
    if not timed:
        return
    if not (name := text(value, controller)):
        yield EVENT.required((controller,))
    elif detail := names.label_key(name):
        yield EVENT.invalid((controller,), name, detail)
    for field in ("reportingInstance", "action", "reason"):
        if not (given := text(value, field)):
            yield EVENT.required((field,))
        elif names.size(given) > _LONGEST:
            yield EVENT.too_long((field,), _LONGEST)
    if names.size(text(value, fields["note"])) > _LONGEST_NOTE:
        yield EVENT.too_long((fields["note"],), _LONGEST_NOTE)


def _anywhere(*, timed: bool) -> tuple[str, ...]:
    """Return the namespaces of Events about what is in none."""
    return ("default", "kube-system") if timed else ("default",)


def _check_newer(value: Object) -> Iterator[Problem]:
    """Yield the problems that only events.k8s.io/v1 refuses."""
    if value.get("eventTime") is None:
        yield EVENT.required(("eventTime",))
    if (kind := text(value, "type")) not in ("Normal", "Warning"):
        yield EVENT.unsupported(("type",), kind, ("Normal", "Warning"))
    for field in ("deprecatedFirstTimestamp", "deprecatedLastTimestamp", "deprecatedCount"):
        if value.get(field):
            yield EVENT.invalid((field,), value[field], "must not be set")
    source = inner(value, "deprecatedSource")
    if text(source, "component") or text(source, "host"):
        yield EVENT.invalid(("deprecatedSource",), source, "must not be set")


def _check_series(value: Object) -> Iterator[Problem]:
    if (series := child(value, "series")) is None:
        return
    if (number(series, "count") or 0) < _FEWEST:
        yield EVENT.invalid(("series", "count"), series.get("count"), f"must be at least {_FEWEST}")
    if series.get("lastObservedTime") is None:
        yield EVENT.required(("series", "lastObservedTime"))

"""The arithmetic behind a verdict: what pods count as, and what Kueue says in each situation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SITUATIONS = {
    "alone": "on the empty cluster",
    "together": "with all jobs of the cluster",
    "nominal": "with all other queues at their nominal quota",
}

Situations = Mapping[str, Sequence[Mapping[str, Any]]]


def asked(situations: Situations) -> Iterator[str]:
    """Yield what each pod set counts as against the quota."""
    for each in situations.get("alone", ()):
        for one in each.get("podSets") or each.get("requests") or ():
            totals = one.get("usage") or one.get("total") or {}
            amounts = ", ".join(f"{text} {name}" for name, text in sorted(totals.items()))
            yield f"{one['name']} × {one['count']}: {amounts}"


def told(situations: Situations) -> Iterator[str]:
    """Yield what becomes of the job in each situation, in Kueue's words."""
    for name, answers in situations.items():
        for each in answers:
            why = each.get("message") or "; ".join(each.get("messages", ()))
            flavors = sorted({flavor for one in each.get("podSets", ()) for flavor in one.get("flavors", {}).values()})
            got = f" in {', '.join(flavors)}" if flavors else ""
            yield f"{SITUATIONS[name]}: {each['outcome']}{got}" + (f": {why}" if why else "")

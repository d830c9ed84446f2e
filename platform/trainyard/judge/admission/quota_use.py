"""The arithmetic behind a verdict: what pods count as, and what Kueue says in each situation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.judge.admission.site import Site

SITUATIONS = {
    "alone": "on the empty cluster",
    "together": "with all jobs of the cluster",
    "nominal": "with all other queues at their nominal quota",
}

Situations = Mapping[str, Sequence[Mapping[str, Any]]]


def request_lines(situations: Situations) -> Iterator[str]:
    """Yield the amounts of each pod set that count against the quota."""
    for item in situations.get("alone", ()):
        for one in item.get("podSets") or item.get("requests") or ():
            amounts = ", ".join(f"{text} {name}" for name, text in sorted(totals(one).items()))
            yield f"{one['name']} × {one['count']}: {amounts}"


def quota(where: Site, answer: Mapping[str, Any], situations: Situations) -> Iterator[str]:
    """Yield how much of its queue's quota all jobs together use, of what a job asks for; `answer` is the whole one."""
    mine, alone = situations.get("together", ()), situations.get("alone", ())
    got = {flavor for item in alone for one in item.get("podSets", ()) for flavor in one.get("flavors", {}).values()}
    asked = {name for item in mine for one in item.get("requests") or item.get("podSets") or () for name in totals(one)}
    for name in dict.fromkeys(item.get("clusterQueue") or "" for item in mine):
        spec = where.of("ClusterQueue").get(name, {}).get("spec") or {}
        used = (answer.get("clusterQueues", {}).get(name) or {}).get("usage", {})
        for flavor in (one for group in spec.get("resourceGroups") or () for one in group["flavors"]):
            rows = [
                f"{used.get(flavor['name'], {}).get(one['name'], '0')} of {one['nominalQuota']} {one['name']}"
                for one in flavor["resources"]
                if one["name"] in asked
            ]
            if rows and flavor["name"] in (got or used):
                yield f"queue {name} uses of {flavor['name']}: {', '.join(rows)}"


def totals(pod_set: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the amounts of a pod set that count against the quota."""
    found: Mapping[str, str] = pod_set.get("usage") or pod_set.get("total") or {}
    return found


def situation_lines(situations: Situations) -> Iterator[str]:
    """Yield Kueue's answer about the job in each situation."""
    for name, answers in situations.items():
        for answer in answers:
            why = answer.get("message") or "; ".join(answer.get("messages", ()))
            flavors = sorted(
                {flavor for one in answer.get("podSets", ()) for flavor in one.get("flavors", {}).values()}
            )
            got = f" in {', '.join(flavors)}" if flavors else ""
            yield f"{SITUATIONS[name]}: {answer['outcome']}{got}" + (f": {why}" if why else "")

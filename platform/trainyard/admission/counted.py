"""The arithmetic behind a verdict: what pods count as, and what Kueue says in each situation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.admission.site import Site

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
            amounts = ", ".join(f"{text} {name}" for name, text in sorted(totals(one).items()))
            yield f"{one['name']} × {one['count']}: {amounts}"


def quota(where: Site, answer: Mapping[str, Any], situations: Situations) -> Iterator[str]:
    """Yield how much of its queue's quota all jobs together use, of what a job asks for; `answer` is the whole one."""
    mine, alone = situations.get("together", ()), situations.get("alone", ())
    got = {flavor for each in alone for one in each.get("podSets", ()) for flavor in one.get("flavors", {}).values()}
    asked = {name for each in mine for one in each.get("requests") or each.get("podSets") or () for name in totals(one)}
    for name in dict.fromkeys(each.get("clusterQueue") or "" for each in mine):
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
    """Return what a pod set counts as."""
    found: Mapping[str, str] = pod_set.get("usage") or pod_set.get("total") or {}
    return found


def told(situations: Situations) -> Iterator[str]:
    """Yield what becomes of the job in each situation, in Kueue's words."""
    for name, answers in situations.items():
        for each in answers:
            why = each.get("message") or "; ".join(each.get("messages", ()))
            flavors = sorted({flavor for one in each.get("podSets", ()) for flavor in one.get("flavors", {}).values()})
            got = f" in {', '.join(flavors)}" if flavors else ""
            yield f"{SITUATIONS[name]}: {each['outcome']}{got}" + (f": {why}" if why else "")

"""Why a job does not fit or waits, in few words of Kueue's own message."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from trainyard.judge.admission.competitors import Others, flavors, messages
from trainyard.judge.admission.job_workloads import Bidder
from trainyard.judge.admission.words import some

FOREIGN = re.compile(r"flavor \S+ doesn't match node affinity(, |; |$)")
"""What Kueue says of flavors that the pods do not select; every run of ours selects one pool."""

SETS = re.compile(r"; (?=couldn't assign flavors to pod set )")
"""What stands between the reasons of pod sets."""

NEEDED = re.compile(r"insufficient unused quota for (\S+) in flavor (\S+), (\S+) more needed")

TOO_MUCH = re.compile(
    r"couldn't assign flavors to pod set (\S+): insufficient quota for (\S+) in flavor (\S+), previously considered"
    r" podsets requests \((\S+)\) \+ current podset request \((\S+)\) > maximum capacity \((\S+)\)"
)
"""What Kueue says of a pod set that needs more than its queue can ever get."""

Answer = Mapping[str, Any]
Job = TypeVar("Job", bound=Bidder)


def nothing(_bid: Bidder) -> str:
    """Return no further reason, where no other jobs are simulated."""
    return ""


def kueue_reason(answers: Sequence[Answer]) -> str:
    """Return Kueue's own reason without flavors of other pools: of scarce resources one, a device before others.

    Where Kueue speaks of other pools' flavors alone nothing is left.
    """
    found = messages(answers)
    if not found:
        return f"Kueue calls it {answers[0]['outcome']} and gives no reason"
    sets = [part for text in SETS.split(found[0]) if (part := FOREIGN.sub("", text).removesuffix(", ").strip())]
    whole = [set_ for set_ in sets if not set_.endswith(":")]
    return in_plain_words(scarcest(whole[0])) if whole else ""


def in_plain_words(text: str) -> str:
    """Return Kueue's message on a pod set that needs more than its queue can ever get, as a sentence.

    >>> in_plain_words(
    ...     "couldn't assign flavors to pod set worker: insufficient quota for cpu in flavor a, previously considered "
    ...     "podsets requests (0) + current podset request (16) > maximum capacity (8)"
    ... )
    'pod set worker needs 16 cpu of flavor a, but its queue can get at most 8'
    """
    found = TOO_MUCH.fullmatch(text)
    if found is None:
        return text
    name, resource, flavor, others, own, most = found.groups()
    beside = "" if others == "0" else f" beside {others} of other pod sets"
    return f"pod set {name} needs {own} {resource} of flavor {flavor}{beside}, but its queue can get at most {most}"


def scarcest(text: str) -> str:
    """Return Kueue's message on a pod set with one of its resources."""
    start = text.find("insufficient ")
    head, parts = text[:start], text[start:].split(", insufficient ") if start >= 0 else []
    if len(parts) < 2:
        return text
    device = next((part for part in parts if "/" in part.partition(" in flavor ")[0]), parts[0])
    return f"{head}insufficient {device.removeprefix('insufficient ')}"


def waiting(
    bid: Job,
    alone: Sequence[Answer],
    others: Others[Job],
    hopeless: Callable[[Job], bool],
    lack: Callable[[Job], str] = nothing,
) -> str:
    """Return the reason why a job waits among all others: quota and its users, or the first job in its queue.

    `hopeless` says of a job whether it never gets any, `lack` what keeps one from nodes where Kueue does not say it.
    """
    every = others.answers(bid)
    mine = [answer for answer in every if answer["outcome"] not in {"admitted", "reserved"}] or every
    queue = mine[0].get("clusterQueue") or ""
    taken = [one for item in mine for one in item.get("evictions", ())]
    if taken:
        by = [one["by"] for one in taken if one.get("by")]
        return f"{others.job_names(by) or 'its quota'}, which preempts it"
    texts = messages(mine)
    if not texts:
        first = others.first(queue, bid.name)
        if first is None:
            return f"its turn in queue {queue}"
        ends = " and never fits" if hopeless(first) else ""
        return f"{first.name}, which is first in queue {queue}{ends}"
    needed = sorted(NEEDED.findall(texts[0]), key=lambda item: "/" not in item[0])
    if not needed:
        why = kueue_reason(mine) or lack(bid)
        return f"{room(alone)}{users(others.holding(flavors(alone), bid.name))}" + (f": {why}" if why else "")
    resource, flavor, more = needed[0][0], needed[0][1], needed[0][2].rstrip(".;,")
    return f"{more} {resource} of flavor {flavor} in queue {queue}{users(others.holding({flavor}, bid.name))}"


def room(alone: Sequence[Answer]) -> str:
    """Return the reason of a job that waits though quota is free: room in its flavors."""
    return f"room in flavor {' and '.join(sorted(flavors(alone)))}"


def users(names: Sequence[str]) -> str:
    """Return in words the jobs that hold the resources for which a job waits."""
    return f", used by {some(names)}" if names else ""

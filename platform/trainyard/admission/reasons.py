"""Why a job does not fit or waits, in few words of Kueue's own message."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from trainyard.admission.bid import Bidder
from trainyard.admission.others import Others, flavors, messages
from trainyard.admission.words import some

FOREIGN = re.compile(r"flavor \S+ doesn't match node affinity(, |; |$)")
"""What Kueue says of flavors that the pods do not select; every run of ours selects one pool."""

SETS = re.compile(r"; (?=couldn't assign flavors to pod set )")
"""What stands between the reasons of pod sets."""

NEEDED = re.compile(r"insufficient unused quota for (\S+) in flavor (\S+), (\S+) more needed")

Answer = Mapping[str, Any]
Job = TypeVar("Job", bound=Bidder)


def nothing(_bid: Bidder) -> str:
    """Return that nobody is asked, or knows more."""
    return ""


def said(answers: Sequence[Answer]) -> str:
    """Return Kueue's own reason without flavors of other pools: of scarce resources one, a device before others.

    Where Kueue speaks of other pools' flavors alone nothing is left.
    """
    found = messages(answers)
    if not found:
        return f"Kueue leaves it {answers[0]['outcome']} without a reason"
    sets = [part for text in SETS.split(found[0]) if (part := FOREIGN.sub("", text).removesuffix(", ").strip())]
    whole = [each for each in sets if not each.endswith(":")]
    return scarcest(whole[0]) if whole else ""


def scarcest(text: str) -> str:
    """Return what is said of a pod set with one of its resources."""
    start = text.find("insufficient ")
    head, parts = text[:start], text[start:].split(", insufficient ") if start >= 0 else []
    if len(parts) < 2:
        return text
    device = next((each for each in parts if "/" in each.partition(" in flavor ")[0]), parts[0])
    return f"{head}insufficient {device.removeprefix('insufficient ')}"


def waiting(
    bid: Job,
    alone: Sequence[Answer],
    others: Others[Job],
    hopeless: Callable[[Job], bool],
    lack: Callable[[Job], str] = nothing,
) -> str:
    """Return what a job waits for while all others are there: quota and who holds it, or who is first in its queue.

    `hopeless` says of a job whether it never gets any, `lack` what keeps one from nodes where Kueue does not say it.
    """
    every = others.answers(bid)
    mine = [each for each in every if each["outcome"] not in {"admitted", "reserved"}] or every
    queue = mine[0].get("clusterQueue") or ""
    taken = [one for each in mine for one in each.get("evictions", ())]
    if taken:
        by = [one["by"] for one in taken if one.get("by")]
        return f"{others.named(by) or 'its quota'}, which preempts it"
    texts = messages(mine)
    if not texts:
        first = others.first(queue, bid.name)
        if first is None:
            return f"its turn in queue {queue}"
        ends = " and never fits" if hopeless(first) else ""
        return f"{first.name}, which is first in queue {queue}{ends}"
    needed = sorted(NEEDED.findall(texts[0]), key=lambda each: "/" not in each[0])
    if not needed:
        why = said(mine) or lack(bid)
        return f"{room(alone)}{held(others.holding(flavors(alone), bid.name))}" + (f": {why}" if why else "")
    resource, flavor, more = needed[0][0], needed[0][1], needed[0][2].rstrip(".;,")
    return f"{more} {resource} of {flavor} in queue {queue}{held(others.holding({flavor}, bid.name))}"


def room(alone: Sequence[Answer]) -> str:
    """Return what a job needs that lacks no quota."""
    return f"room in {' and '.join(sorted(flavors(alone)))}"


def held(names: Sequence[str]) -> str:
    """Return who holds what a job waits for."""
    return f", held by {some(names)}" if names else ""

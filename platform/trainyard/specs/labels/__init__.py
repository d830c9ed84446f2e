"""Labels of nodes that providers and operators set, as data with its source, and which name a misspelt one means."""

from __future__ import annotations

import difflib
from functools import cache

from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Spec, Text

SAME = 0.85
"""How alike two names of one domain are of which one may be the other misspelt (difflib)."""

ALIKE = 0.93
"""The same for whole labels, whose domains are alike too."""

LEAST = 5
"""Letters of a name that the end of a known one may be."""


class Labels(Spec):
    """Labels of nodes that one provider or operator sets."""

    title: Text
    """Who sets them."""
    labels: tuple[Text, ...]
    """Their keys, as a whole."""
    whole: tuple[Text, ...] = ()
    """What keys begin with of which all are listed."""
    lacking: dict[Text, tuple[Text, ...]] = {}
    """Shapes whose nodes do not have a label, by its key."""
    spot: dict[Text, tuple[Text, ...]] = {}
    """Values of a label with which nodes are spot nodes."""
    steady: dict[Text, tuple[Text, ...]] = {}
    """Values of a label with which nodes are no spot nodes."""
    reserved: dict[Text, tuple[Text, ...]] = {}
    """Values of those by which nodes are of capacity that ends on a day: label -> values."""
    sources: dict[str, Text]
    """Source of each fact: field -> document."""


@cache
def labels() -> dict[str, Labels]:
    """Return the labels of every provider and operator by its name; raises SpecError where a file is damaged."""
    return read_facts(__name__, Labels, "labels")


@cache
def owners() -> dict[str, Labels]:
    """Return who sets each known label."""
    return {key: facts for facts in labels().values() for key in facts.labels}


def owner_of(label: str) -> Labels | None:
    """Return who lists all labels that begin as this one does, None of a label that may be the site's own."""
    return next((facts for facts in labels().values() if label.startswith(facts.whole or "\n")), None)


def nearest(label: str) -> str | None:
    """Return the known label that an unknown one may be misspelt from, None where there is none.

    >>> nearest("nvidia.com/gpu.cliq"), nearest("nvida.com/gpu.clique"), nearest("example.com/rack")
    ('nvidia.com/gpu.clique', 'nvidia.com/gpu.clique', None)
    """
    if label in owners():
        return None
    domain, _, name = label.rpartition("/")
    beside = {key.rpartition("/")[2]: key for key in owners() if key.rpartition("/")[0] == domain}
    if found := difflib.get_close_matches(name, beside, n=1, cutoff=SAME):
        return beside[found[0]]
    ends = [key for other, key in beside.items() if len(name) >= LEAST and other.endswith((f".{name}", f"-{name}"))]
    whole = difflib.get_close_matches(label, owners(), n=1, cutoff=ALIKE)
    return next(iter([*ends, *whole]), None)


def lacking(label: str, shape: str) -> bool:
    """Say whether nodes of a shape are known not to have a label."""
    facts = owners().get(label)
    return facts is not None and shape in facts.lacking.get(label, ())


def is_spot(label: str, value: str) -> bool | None:
    """Return whether nodes with a label are spot nodes, None where it does not say.

    >>> is_spot("cloud.google.com/gke-spot", "true"), is_spot("eks.amazonaws.com/capacityType", "ON_DEMAND")
    (True, False)
    """
    facts = owners().get(label)
    if facts is None:
        return None
    if value in facts.spot.get(label, ()):
        return True
    return False if value in facts.steady.get(label, ()) else None


def is_reserved(label: str, value: str) -> bool:
    """Return whether a label says that its nodes are of capacity that ends on a day.

    >>> is_reserved("eks.amazonaws.com/capacityType", "CAPACITY_BLOCK")
    True
    """
    facts = owners().get(label)
    return facts is not None and value in facts.reserved.get(label, ())

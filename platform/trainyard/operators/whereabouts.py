"""Whereabouts: addresses for the interfaces that Multus adds."""

from __future__ import annotations

from trainyard.operators.base import Operator


class Whereabouts(Operator):
    """Whereabouts from its chart; the ranges stand in the networks that use them.

    Its chart makes pods Guaranteed, beside which a kubelet that pins memory admits no pod wider than a NUMA node; the
    facts say other limits.
    """

    name = "whereabouts"


OPERATOR = Whereabouts()

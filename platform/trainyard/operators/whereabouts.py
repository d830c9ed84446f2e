"""Whereabouts: addresses for the interfaces that Multus adds."""

from __future__ import annotations

from trainyard.operators.base import Operator


class Whereabouts(Operator):
    """Whereabouts from its chart; the chart's defaults serve, the ranges stand in the networks that use them."""

    name = "whereabouts"


OPERATOR = Whereabouts()

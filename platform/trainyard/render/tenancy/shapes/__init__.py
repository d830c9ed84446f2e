"""Shapes: what a value may be, read in two ways: to find what is not allowed and where, and as a condition in CEL.

A shape is closed: a field that it does not name is refused. Both readings of one shape give the same verdict, but for
`Served` fields, which only a server fills in.
"""

from trainyard.render.tenancy.shapes.base import OWN, YES, About, Breach, Shape
from trainyard.render.tenancy.shapes.joined import Both, Chosen, Elsewhere
from trainyard.render.tenancy.shapes.keys import Pairs
from trainyard.render.tenancy.shapes.maps import Fields, Items, Loose, Values, known_shape
from trainyard.render.tenancy.shapes.values import ANY, KEPT, NEVER, SERVED, AtMost, Condition, Listed, Same, only

__all__ = [
    "ANY",
    "KEPT",
    "NEVER",
    "OWN",
    "SERVED",
    "YES",
    "About",
    "AtMost",
    "Both",
    "Breach",
    "Chosen",
    "Condition",
    "Elsewhere",
    "Fields",
    "Items",
    "Listed",
    "Loose",
    "Pairs",
    "Same",
    "Shape",
    "Values",
    "known_shape",
    "only",
]

"""Credentials that stand in plain sight: tokens, keys and passwords in values, in texts and in what is shown of them.

Knows values and texts alone: who reads specs or manifests says where they stand, by the rules that are declared here.
Nothing that this package says of a credential has any of it.
"""

from trainyard.base.credentials.find import Leak, leaks, of_secret
from trainyard.base.credentials.hide import HIDDEN, hide, hides
from trainyard.base.credentials.names import Sure
from trainyard.base.credentials.prefilter import may_hold
from trainyard.base.credentials.rules import IN_SECRET, PLAIN, remedy, variable
from trainyard.base.credentials.shapes import shapes_in
from trainyard.base.credentials.texts import in_text

__all__ = [
    "HIDDEN",
    "IN_SECRET",
    "PLAIN",
    "Leak",
    "Sure",
    "hide",
    "hides",
    "in_text",
    "leaks",
    "may_hold",
    "of_secret",
    "remedy",
    "shapes_in",
    "variable",
]

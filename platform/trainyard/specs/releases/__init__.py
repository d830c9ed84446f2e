"""Facts about operators: releases, charts, namespaces, what they bring and what they get on with; data with sources."""

from trainyard.specs.releases.facts import Bundle, Chart, Compared, Facts, Need, Provisions, Release
from trainyard.specs.releases.hooks import foreign_hooks
from trainyard.specs.releases.load import names, operators_for, read, release, releases

__all__ = [
    "Bundle",
    "Chart",
    "Compared",
    "Facts",
    "Need",
    "Provisions",
    "Release",
    "foreign_hooks",
    "names",
    "operators_for",
    "read",
    "release",
    "releases",
]

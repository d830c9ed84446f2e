"""Facts about operators: releases, charts, namespaces, what they bring and what they get on with; data with sources."""

from trainyard.releases.facts import Bundle, Chart, Facts, Need, Release, order
from trainyard.releases.load import names, nearest, release, releases

__all__ = ["Bundle", "Chart", "Facts", "Need", "Release", "names", "nearest", "order", "release", "releases"]

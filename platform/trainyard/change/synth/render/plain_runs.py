"""The folder of a run without cdk8s, for who only looks at it: the same text, unless Node would spell it otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.change.synth.render.text import Origin, Rendered, render_folder
from trainyard.render.kinds import Resolved, build

EXACT = 2**53
"""Up to here a number of JavaScript is the whole number that it was read from."""


def run_folder(run: Resolved) -> Rendered | None:
    """Return the folder of a run as `folders.run_folders` yields it, or None where only Node knows how it is spelled.

    A construct of a run changes nothing in its objects; to start Node for one takes longer than to judge it.
    """
    resources = [(resource.value(), resource.at) for resource in build(run)]
    if not all(is_spelled_alike(value) for value, _ in resources):
        return None
    objects = [(value, Origin(run.run.source.file, at)) for value, at in resources]
    return render_folder(run.run.cluster_name, f"runs/{run.run.team_name}/{run.run.name}", objects)


def is_spelled_alike(value: Any) -> bool:
    """Say whether a value comes back from Node as it went there: its numbers are doubles, and its texts are Unicode."""
    if isinstance(value, Mapping):
        return all(map(is_spelled_alike, value)) and all(map(is_spelled_alike, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(is_spelled_alike, value))
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)
    return isinstance(value, int) and abs(value) <= EXACT

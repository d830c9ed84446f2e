"""The objects of runs that clusters have, by the kinds and API versions in which they were written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from trainyard.base.system import files
from trainyard.base.system.repository import GENERATED
from trainyard.render.tree import layout

HEAD = re.compile(rb"^apiVersion: (?P<version>[^\s\"']+)$.*?^kind: (?P<kind>\w+)$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Head:
    """Kind and version of an object of a run."""

    cluster: str
    run: str
    """Its folder, from the cluster's on."""
    group: str
    version: str
    kind: str


def run_objects(root: Path, clusters: Collection[str]) -> Iterator[Head]:
    """Yield the objects of all runs that are in the tree of these clusters."""
    for cluster in clusters:
        for file in files.walk(root / GENERATED / cluster / layout.RUNS):
            run = layout.run_of(f"{cluster}/{layout.RUNS}{file.path}")
            found = (
                HEAD.search(files.read(root / GENERATED / cluster / layout.RUNS / file.path) or b"") if run else None
            )
            if run and found:
                group, _, version = found["version"].decode().rpartition("/")
                yield Head(cluster, run, group, version, found["kind"].decode())

"""Nodes are not drained in the change that touches the runs on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.base.findings import Finding
from trainyard.render.tree.ledgers import JobKey
from trainyard.render.tree.rules import HARDWARE, place
from trainyard.render.tree.snapshot import Snapshot


def hardware_with_runs(base: Snapshot, files: Mapping[str, str], runs: Mapping[JobKey, str]) -> Iterator[Finding]:
    """Yield a finding where one change touches the hardware and the runs of a cluster that was there before.

    `files` has the content ids of the tree, `runs` the names of the runs that jobs have after the change.
    """
    changed = {path for path, _ in base.files.items() ^ files.items()}
    there = {path.partition("/")[0] for path in base.files}
    for cluster in sorted({path.partition("/")[0] for path in changed if path.split("/")[1:2] == ["hardware"]} & there):
        before = {key: entry.name for key, entry in base.active.items() if key[0] == cluster}
        after = {key: name for key, name in runs.items() if key[0] == cluster}
        names = sorted(set(before.values()) ^ set(after.values()))
        if names:
            message = (
                f"this pull request drains nodes of {cluster!r} and changes runs there ({names[0]}); split it in two"
            )
            yield HARDWARE.of(place(f"{cluster}/hardware"), message, fix=HARDWARE.fix)

"""The runs that clusters have at the base, beside which new runs are judged, as a plan judges them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import Any

    from trainyard.base.memory import Memory
    from trainyard.base.system.git import Git
    from trainyard.judge.admission.before import Before
    from trainyard.judge.admission.changes import Side
    from trainyard.judge.admission.site import Site
    from trainyard.render.tree.snapshot import Snapshot
    from trainyard.specs import Repository


def runs_before(root: Path, settings: Repository, clusters: Iterable[str]) -> dict[str, Before]:
    """Return the runs of clusters at the base, by cluster; none where there is no Git, or it cannot tell the base."""
    from trainyard.base.errors import ToolError
    from trainyard.base.memory import Memory, World
    from trainyard.base.system import cache
    from trainyard.base.system import git as system_git
    from trainyard.judge.admission.before import Before
    from trainyard.render.tree.commit import base_of
    from trainyard.render.tree.disk import CACHE
    from trainyard.render.tree.snapshot import from_git

    git = system_git.find(root)
    if git is None:
        return {}
    memory = Memory(cache.private(CACHE, outside=root), World())
    try:
        base = from_git(git, base_of(git, revision=settings.revision), memory)
    except ToolError:
        return {}
    return {
        name: Before(
            {f"{team}/{job}": entry.name for (where, team, job), entry in base.active.items() if where == name},
            partial(side_of, git, base, name, memory),
            partial(answer, memory),
        )
        for name in (clusters if base.commit else ())
    }


def answer(memory: Memory, site: Site, case: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return Kueue's answer to a case on a cluster, which is remembered."""
    from trainyard.change.plan.decide.decisions import remembered_answer

    return remembered_answer(site, case, memory)


def side_of(git: Git, base: Snapshot, name: str, memory: Memory) -> Side | None:
    """Return the side of a cluster at the base, with its jobs; None where it has no queues, or is not right.

    Runtimes are left out: Workloads are made of them, and Kueue reads no others.
    """
    from trainyard.change.plan.decide.workloads import bids, model, site
    from trainyard.judge.admission.changes import Side
    from trainyard.judge.admission.site import RUNTIMES

    def content(file: str) -> bytes | None:
        found = git.object_id(base.commit or "", file)
        return next(git.read([found])) if found else None

    where = site(base, name, model(content, name), memory)
    if where is None:
        return None
    read = [value for value in where.objects if value["kind"] not in RUNTIMES]
    return Side(replace(where, objects=read), bids(base, where, memory))

"""The runs that the tree at hand has of programs which make jobs and are not run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from trainyard.documents import load
from trainyard.system.repository import GENERATED
from trainyard.tree import layout
from trainyard.tree.disk import Disk
from trainyard.tree.ledgers import JobKey
from trainyard.tree.programs import standing
from trainyard.tree.snapshot import Snapshot, from_disk


@dataclass(frozen=True, slots=True)
class Standing:
    """An active run, and its objects."""

    key: JobKey
    run: str
    objects: tuple[dict[str, Any], ...]


def standing_runs(root: Path, programs: Sequence[str], clusters: Iterable[str]) -> Mapping[str, Sequence[Standing]]:
    """Return the active runs of each program on these clusters; nothing is read where no program is named.

    `programs` are files of jobs, in folders of their teams.
    """
    if not programs:
        return {}
    disk, teams = Disk(root), sorted({program.split("/")[1] for program in programs})
    found: dict[str, str | None] = {}
    for cluster, team, top in product(clusters, teams, (layout.LEDGER, layout.RUNS, f"{layout.INDEX}{layout.RUNS}")):
        folder = f"{cluster}/{top}{team}"
        paths = (f"{folder}/{path}" for path, _, is_plain in disk.walk(f"{GENERATED}/{folder}") if is_plain)
        found |= {path: path for path in paths}
    tree = from_disk(root / GENERATED, found)
    return {
        program: [Standing(each.key, tree.active[each.key].name, objects(tree, each.key)) for each in runs]
        for program, runs in standing(programs, tree).items()
    }


def objects(tree: Snapshot, key: JobKey) -> tuple[dict[str, Any], ...]:
    """Return the objects of a job's active run."""
    folder = layout.run_folder(key[1], tree.active[key].name)
    texts = tree.read(list(tree.folder(f"{key[0]}/{folder}").values()))
    values = (document.value for text in texts for document in load(text, file="")[0])
    return tuple(value for value in values if isinstance(value, dict))

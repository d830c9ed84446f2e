"""The runs that the tree at hand has of programs which make jobs and are not run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from trainyard.base.documents import Document, load
from trainyard.base.system.repository import GENERATED
from trainyard.render.tree import layout, ledger
from trainyard.render.tree.disk import Disk
from trainyard.render.tree.ledgers import JobKey
from trainyard.render.tree.programs import active_runs
from trainyard.render.tree.snapshot import Snapshot, from_disk


@dataclass(frozen=True, slots=True)
class Standing:
    """An active run, and its objects."""

    key: JobKey
    run: str
    objects: tuple[Document, ...]
    as_made: bool = True
    """Whether its files are those that its ledger remembers; of others nothing is read."""

    @property
    def folder(self) -> str:
        """Where its files are, from the repository on."""
        return f"{GENERATED}/{self.key[0]}/{layout.run_folder(self.key[1], self.run)}"


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
    return {program: [read(tree, run.key) for run in runs] for program, runs in active_runs(programs, tree).items()}


def read(tree: Snapshot, key: JobKey) -> Standing:
    """Return a job's active run, with the objects of its files where these are what its ledger remembers."""
    entry = tree.active[key]
    folder = f"{key[0]}/{layout.run_folder(key[1], entry.name)}"
    there = tree.folder(folder)
    contents = dict(zip(there, tree.read(list(there.values())), strict=True))
    its_own = layout.job_of_run(folder) == key[1:] and ledger.digest_of_bytes(contents) == entry.files
    if not its_own:
        return Standing(key, entry.name, (), as_made=False)
    documents = (document for text in contents.values() for document in load(text, file="")[0])
    return Standing(key, entry.name, tuple(document for document in documents if isinstance(document.value, dict)))

"""What `generated/` should be: everything rendered, frozen runs as they are at the base, and the ledgers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.base.findings import Finding, Location
from trainyard.change.synth import in_use, runs
from trainyard.change.synth.render.text import Rendered
from trainyard.change.synth.runs import Decision
from trainyard.change.synth.write import Tree
from trainyard.render.tree import index, layout, ledger
from trainyard.render.tree.ledgers import JobKey
from trainyard.render.tree.rules import FROZEN, place
from trainyard.render.tree.snapshot import Snapshot
from trainyard.render.tree.wanted import Wanted


@dataclass(frozen=True, slots=True)
class Terms:
    """What a repository says about all of its tree."""

    live: bool
    setting: Location
    """Where `live` stands."""
    version: str
    """The release that renders."""
    locate: Callable[[index.Entry], Location]
    """Where in the specs an entry of an index came from."""


@dataclass(frozen=True, slots=True)
class Known:
    """What need not be rendered: files that are on disk as they would come out, and the ledger entries of such runs."""

    files: Mapping[str, str] = field(default_factory=dict)
    """Content ids by path below `generated/`."""
    entries: Mapping[JobKey, ledger.Entry] = field(default_factory=dict)


def decide(jobs: Sequence[Wanted], base: Snapshot, terms: Terms) -> Decision:
    """Say which runs are new and which are frozen; the new ones are to be rendered."""
    decision = runs.decide(jobs, base, live=terms.live, setting=terms.setting)
    if not base.proven:
        verify(decision, base)
    return decision


def assemble(
    decision: Decision,
    rendered: Iterable[Rendered],
    base: Snapshot,
    terms: Terms,
    *,
    folder: Path,
    known: Known | None = None,
) -> Tree:
    """Return the tree of rendered folders, known files, frozen runs and ledgers; `folder` is where it is on disk.

    What stands in the way is added to the decision's findings; with an error among them nothing may be written.
    """
    known = known or Known()
    fresh = {(entry.cluster, entry.folder): entry for entry in decision.fresh}
    texts: dict[str, str] = {}
    entries = dict(known.entries)
    for one_rendered in rendered:
        texts.update(files_of(one_rendered))
        decision.findings += one_rendered.findings
        wanted = fresh.get((one_rendered.cluster, one_rendered.folder))
        if wanted is not None:
            entries[wanted.key] = ledger.Entry(
                wanted.run, wanted.spec, ledger.digest(one_rendered.files), terms.version
            )
    if not base.proven:
        decision.findings += unlike(entries, base)
    kept = runs.frozen_files(decision.frozen, base)
    for key, past in runs.finish(decision, entries).items():
        path = f"{key[0]}/{layout.ledger_file(*key[1:])}"
        if terms.live and past == base.ledgers.get(key):
            kept[path] = base.files[path]
        else:
            texts[path] = ledger.dump(past)
    tree = Tree(texts, kept, known.files, base, folder)
    decision.findings += in_use.check(base, tree, decision.frozen, terms.locate)
    return tree


def files_of(rendered: Rendered) -> dict[str, str]:
    """Return a folder's files and its index, by path below `generated/`."""
    texts = (*rendered.files.values(), index.dump(rendered.folder, rendered.index))
    return dict(zip(paths_of(rendered), texts, strict=True))


def paths_of(rendered: Rendered) -> list[str]:
    """Return the paths of a folder's files and of its index below `generated/`."""
    return [
        *(f"{rendered.cluster}/{rendered.folder}/{name}" for name in rendered.files),
        f"{rendered.cluster}/{layout.index_file(rendered.folder)}",
    ]


def verify(decision: Decision, base: Snapshot) -> None:
    """Without Git, hold the files of frozen runs against their ledger; a run whose files are gone is rendered again."""
    for one_entry in list(decision.frozen):
        files = base.folder(f"{one_entry.cluster}/{one_entry.folder}")
        entry = next(entry for entry in base.ledgers[one_entry.key] if entry.name == one_entry.run)
        contents = zip(files, base.read(list(files.values())), strict=True)
        if not files:
            decision.frozen.remove(one_entry)
            decision.fresh.append(one_entry)
        elif ledger.digest_of_bytes(dict(contents)) != entry.files:
            where = place(f"{one_entry.cluster}/{one_entry.folder}")
            message = f"files of the frozen run {one_entry.run!r} differ from its ledger; restore them"
            decision.findings.append(FROZEN.of(where, message))


def unlike(entries: Mapping[JobKey, ledger.Entry], base: Snapshot) -> Iterable[Finding]:
    """Yield a finding for each run that was rendered again and is not what its ledger remembers."""
    for key, entry in entries.items():
        before = next((one_entry for one_entry in base.ledgers.get(key, ()) if one_entry.name == entry.name), None)
        if before and before.files != entry.files:
            where = place(f"{key[0]}/{layout.run_folder(key[1], entry.name)}")
            message = (
                f"files of the frozen run {entry.name!r} are missing, and rendering would change them; restore them"
            )
            yield FROZEN.of(where, message)

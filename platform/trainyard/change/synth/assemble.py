"""What `generated/` should be: everything rendered, frozen runs as they are at the base, and the ledgers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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


@dataclass(frozen=True, slots=True)
class Assembly:
    """The tree as it should be, and the decision with what stands in its way; with an error nothing may be written."""

    tree: Tree
    decision: Decision


def decide(jobs: Sequence[Wanted], base: Snapshot, terms: Terms) -> Decision:
    """Say which runs are new and which are frozen; the new ones are to be rendered."""
    decision = runs.decide(jobs, base, live=terms.live, setting=terms.setting)
    return decision if base.proven else verified(decision, base)


def assemble(
    decision: Decision,
    rendered: Iterable[Rendered],
    base: Snapshot,
    terms: Terms,
    *,
    folder: Path,
    known: Known | None = None,
) -> Assembly:
    """Put rendered folders, known files, frozen runs and ledgers together; `folder` is where the tree is on disk."""
    known, rendered = known or Known(), list(rendered)
    fresh = {(entry.cluster, entry.folder): entry for entry in decision.fresh}
    entries = dict(known.entries) | {
        wanted.key: ledger.Entry(wanted.run, wanted.spec, ledger.digest(one_rendered.files), terms.version)
        for one_rendered in rendered
        if (wanted := fresh.get((one_rendered.cluster, one_rendered.folder)))
    }
    ledgers = {
        f"{key[0]}/{layout.ledger_file(*key[1:])}": (past, terms.live and past == base.ledgers.get(key))
        for key, past in runs.finish(decision, entries).items()
    }
    texts = {path: text for one_rendered in rendered for path, text in files_of(one_rendered).items()}
    texts |= {path: ledger.dump(past) for path, (past, is_same) in ledgers.items() if not is_same}
    kept = runs.frozen_files(decision.frozen, base)
    kept |= {path: base.files[path] for path, (_, is_same) in ledgers.items() if is_same}
    tree = Tree(texts, kept, known.files, base, folder)
    findings = (
        *(finding for one_rendered in rendered for finding in one_rendered.findings),
        *(() if base.proven else unlike(entries, base)),
        *in_use.check(base, tree, decision.frozen, terms.locate),
    )
    return Assembly(tree, decision.with_findings(findings))


def files_of(rendered: Rendered) -> dict[str, str]:
    """Return a folder's files and its index, by path below `generated/`; a cluster's own folder has no index."""
    texts = [*rendered.files.values()]
    texts += [index.dump(rendered.folder, rendered.index)] if rendered.folder else []
    return dict(zip(paths_of(rendered), texts, strict=True))


def paths_of(rendered: Rendered) -> list[str]:
    """Return the paths of a folder's files and of its index below `generated/`."""
    if not rendered.folder:
        return [f"{rendered.cluster}/{name}" for name in rendered.files]
    return [
        *(f"{rendered.cluster}/{rendered.folder}/{name}" for name in rendered.files),
        f"{rendered.cluster}/{layout.index_file(rendered.folder)}",
    ]


def verified(decision: Decision, base: Snapshot) -> Decision:
    """Without Git, hold the files of frozen runs against their ledger; a run whose files are gone is rendered again."""
    files = {entry: base.folder(f"{entry.cluster}/{entry.folder}") for entry in decision.frozen}
    gone = tuple(entry for entry in decision.frozen if not files[entry])
    frozen = tuple(entry for entry in decision.frozen if files[entry])
    found = (finding for entry in frozen for finding in unlike_ledger(entry, files[entry], base))
    return replace(decision, fresh=(*decision.fresh, *gone), frozen=frozen).with_findings(found)


def unlike_ledger(frozen: Wanted, files: Mapping[str, str], base: Snapshot) -> Iterator[Finding]:
    """Yield the finding for a frozen run whose files are not those that its ledger remembers."""
    entry = next(entry for entry in base.ledgers[frozen.key] if entry.name == frozen.run)
    contents = zip(files, base.read(list(files.values())), strict=True)
    if ledger.digest_of_bytes(dict(contents)) != entry.files:
        where = place(f"{frozen.cluster}/{frozen.folder}")
        message = f"files of the frozen run {frozen.run!r} differ from its ledger; restore them"
        yield FROZEN.of(where, message)


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

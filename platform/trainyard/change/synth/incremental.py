"""Renders what is new or not on disk as it should be; of everything else the content ids are remembered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from trainyard.base.system import files, reads
from trainyard.base.system.reads import Recording, joined
from trainyard.base.system.repository import GENERATED, cluster_file
from trainyard.change.synth import assemble, repository
from trainyard.change.synth.assemble import Known
from trainyard.change.synth.facts import ClusterFact, Facts, FileFact, RunFact
from trainyard.change.synth.reading import Reading
from trainyard.change.synth.render.processes import Rendering
from trainyard.change.synth.render.text import Rendered
from trainyard.change.synth.runs import Decision
from trainyard.change.synth.weigh import Decided
from trainyard.change.synth.write import Tree
from trainyard.judge.checks.left_out import LeftOut
from trainyard.render.tree import ledger
from trainyard.render.tree.disk import Disk
from trainyard.render.tree.ledgers import JobKey
from trainyard.specs.run import run_name


@dataclass(frozen=True, slots=True)
class Ready:
    """What was rendered before, and is on disk still."""

    runs: Mapping[JobKey, RunFact]
    clusters: Mapping[str, ClusterFact]

    left: Mapping[str, str]
    """Content ids of files of what is left out, by path below `generated/`: they stay as they are on disk."""

    def contents(self, version: str) -> Known:
        """Return the files, and the ledger entries of the runs as this release would make them."""
        runs = (run.files or {} for run in self.runs.values())
        found = [self.left, *runs, *(fact.files for fact in self.clusters.values())]
        return Known(
            {path: oid for one in found for path, oid in one.items()},
            {
                key: ledger.Entry(run_name(run.job, run.spec), run.spec, run.digest, version)
                for key, run in self.runs.items()
            },
        )


@dataclass(frozen=True, slots=True)
class Synthesis:
    """The tree as it should be, the decision with what was found meanwhile, and what is known from now on."""

    tree: Tree
    decision: Decision
    facts: Facts


def render(decided: Decided, *, looking: bool = False) -> Synthesis:
    """Render what is new, and what is not on disk as it is remembered; `looking` says that nobody writes it."""
    reading, decision = decided.reading, decided.decision
    with reads.resumed(reading.record):
        facts = reading.facts()
        ready = on_disk(reading, decision, facts, decided.without)
        rendered = render_rest(reading, decision, ready, decided.without, looking=looking)
        made = assemble.assemble(
            decision,
            rendered,
            decided.base,
            decided.terms,
            folder=reading.root / GENERATED,
            known=ready.contents(decided.terms.version),
        )
        return Synthesis(made.tree, made.decision, facts_after(reading, facts, ready, rendered, decision, made.tree))


def on_disk(reading: Reading, decision: Decision, facts: Mapping[str, FileFact], without: LeftOut) -> Ready:
    """Return the new runs and the clusters that are on disk as they are remembered, and what is left out there."""
    there = reading.there
    remembered = {key: run for file, fact in facts.items() for key, run in keys_of(file, fact)}
    fresh = ((entry.key, remembered.get(entry.key)) for entry in decision.fresh)
    return Ready(
        {key: run for key, run in fresh if run and is_there(run.files, there)},
        {
            name: fact
            for name, fact in reading.clusters.items()
            if name not in without.clusters and is_there(fact.files, there)
        },
        left_on_disk(reading.start.disk, without),
    )


def left_on_disk(disk: Disk, without: LeftOut) -> dict[str, str]:
    """Return the content ids of files on disk that are of something that is left out."""
    there = {path: oid for path, oid in disk.scan(GENERATED).items() if oid is not None}
    left = without.paths(there, lambda path: files.read(disk.root / GENERATED / path))
    return {path: there[path] for path in left if path in there}


def render_rest(
    reading: Reading, decision: Decision, ready: Ready, without: LeftOut, *, looking: bool
) -> list[Rendered]:
    """Render the new runs and the clusters that are not ready."""
    asked = [entry for entry in decision.fresh if entry.key not in ready.runs]
    known = ready.clusters.keys() | without.clusters
    stale = [name for name in sorted(reading.checked.on_clusters) if name not in known]
    policies = repository.shipped_policies(reading.root) if stale else ()
    return Rendering(reading.specs, reading.root, policies, looking).render(stale, reading.load(asked))


def keys_of(file: str, fact: FileFact) -> list[tuple[JobKey, RunFact]]:
    """Return the runs of a job file with their keys."""
    return [((run.cluster, file.split("/")[1], run.job), run) for run in fact.runs]


def is_there(files: Mapping[str, str] | None, there: Mapping[str, str | None]) -> bool:
    """Say whether files are on disk as they are remembered."""
    return files is not None and all(there.get(path) == oid for path, oid in files.items())


def facts_after(
    reading: Reading,
    facts: Mapping[str, FileFact],
    ready: Ready,
    rendered: Sequence[Rendered],
    decision: Decision,
    tree: Tree,
) -> Facts:
    """Return the facts about job files and clusters to remember; the base knows the files of frozen runs."""
    places = {(entry.cluster, entry.folder): entry.key for entry in decision.fresh}
    runs: dict[JobKey, tuple[dict[str, str], str]] = {}
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for one_rendered in rendered:
        ids = {path: tree.ids[path] for path in assemble.paths_of(one_rendered)}
        key = places.get((one_rendered.cluster, one_rendered.folder))
        if key is None:
            found[one_rendered.cluster] |= ids
        else:
            runs[key] = ids, ledger.digest(one_rendered.files)
    frozen = frozenset(entry.key for entry in decision.frozen)
    record, on_clusters = reading.record, reading.checked.on_clusters
    return Facts(
        {file: with_files(file, fact, runs, frozen, record) for file, fact in facts.items()},
        dict(ready.clusters)
        | {
            name: ClusterFact(record.reads_of(cluster_file(name)), ids, on_clusters[name])
            for name, ids in found.items()
        },
    )


def with_files(
    file: str,
    fact: FileFact,
    runs: Mapping[JobKey, tuple[dict[str, str], str]],
    frozen: frozenset[JobKey],
    record: Recording,
) -> FileFact:
    """Return a fact with the files of those of its runs that were rendered, and without those of frozen ones."""
    changed, is_rendered = [], False
    for key, run in keys_of(file, fact):
        if key in runs:
            changed.append(replace(run, files=runs[key][0], digest=runs[key][1]))
            is_rendered = True
        else:
            changed.append(replace(run, files=None, digest="") if key in frozen and run.files else run)
    if is_rendered and not fact.is_idle:
        fact = replace(fact, reads=joined(fact.reads, record.reads_of(file)))
    return fact if changed == fact.runs else replace(fact, runs=changed)

"""Renders what is new or not on disk as it should be; of everything else the content ids are remembered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from trainyard.base.system.reads import Recording, joined
from trainyard.base.system.repository import GENERATED, cluster_file
from trainyard.change.synth import assemble, repository
from trainyard.change.synth.assemble import Known, Terms
from trainyard.change.synth.facts import ClusterFact, FileFact, Memory, RunFact
from trainyard.change.synth.reading import Reading
from trainyard.change.synth.render.processes import Rendering, Show
from trainyard.change.synth.render.text import Rendered
from trainyard.change.synth.runs import Decision
from trainyard.change.synth.write import Tree
from trainyard.render.tree import ledger
from trainyard.render.tree.disk import Disk
from trainyard.render.tree.ledgers import JobKey
from trainyard.render.tree.snapshot import Snapshot
from trainyard.specs.run import run_name


def render(
    reading: Reading,
    decision: Decision,
    base: Snapshot,
    terms: Terms,
    *,
    disk: Disk,
    memory: Memory,
    show: Show = lambda _: None,
) -> Tree:
    """Return the tree, and remember what was rendered for it; `show` is told the share that is rendered."""
    there = disk.scan(GENERATED)
    facts = reading.facts()
    remembered = {key: run for file, fact in facts.items() for key, run in keys_of(file, fact)}
    ready = {
        entry.key: run for entry in decision.fresh if (run := remembered.get(entry.key)) and is_there(run.files, there)
    }
    clusters = {name: fact for name, fact in reading.clusters.items() if is_there(fact.files, there)}
    contents = [*(run.files or {} for run in ready.values()), *(fact.files for fact in clusters.values())]
    known = Known(
        {path: oid for files in contents for path, oid in files.items()},
        {
            key: ledger.Entry(run_name(run.job, run.spec), run.spec, run.digest, terms.version)
            for key, run in ready.items()
        },
    )
    asked = [entry for entry in decision.fresh if entry.key not in ready]
    stale = [name for name in sorted(reading.on_clusters) if name not in clusters]
    rendering = Rendering(reading.specs, reading.root, repository.shipped_policies(reading.root) if stale else ())
    rendered = rendering.render(stale, reading.load(asked), show)
    tree = assemble.assemble(decision, rendered, base, terms, folder=disk.root / GENERATED, known=known)
    remember(memory, reading, facts, clusters, rendered, decision, tree)
    return tree


def keys_of(file: str, fact: FileFact) -> list[tuple[JobKey, RunFact]]:
    """Return the runs of a job file with their keys."""
    return [((run.cluster, file.split("/")[1], run.job), run) for run in fact.runs]


def is_there(files: Mapping[str, str] | None, there: Mapping[str, str | None]) -> bool:
    """Say whether files are on disk as they are remembered."""
    return files is not None and all(there.get(path) == oid for path, oid in files.items())


def remember(
    memory: Memory,
    reading: Reading,
    facts: Mapping[str, FileFact],
    clusters: Mapping[str, ClusterFact],
    rendered: Sequence[Rendered],
    decision: Decision,
    tree: Tree,
) -> None:
    """Enter what is known now of job files and clusters; of frozen runs the base knows the files."""
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
    memory.jobs = {file: with_files(file, fact, runs, frozen, reading.record) for file, fact in facts.items()}
    memory.clusters = dict(clusters) | {
        name: ClusterFact(reading.record.reads_of(cluster_file(name)), ids, reading.on_clusters[name])
        for name, ids in found.items()
    }


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

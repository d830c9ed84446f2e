"""A repository's specs in the terms of runs and folders, and what stands in the way of rendering them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trainyard import launchers
from trainyard.documents import load
from trainyard.errors import TrainyardError
from trainyard.findings import Finding, Location
from trainyard.operators import fit
from trainyard.specs.run import Run, Source, Specs
from trainyard.synth import index
from trainyard.synth.render import Rendered
from trainyard.synth.runs import Wanted, wanted
from trainyard.synth.target import Inputs
from trainyard.system import files
from trainyard.system.data import policies_dir, schemas_dir
from trainyard.workloads.resolve import resolve


def check(specs: Specs, root: Path) -> tuple[list[Run], list[Finding]]:
    """Return the runs of all jobs, and what the clusters' operators, kinds and launchers refuse."""
    runs, findings = resolve(specs)
    for run in runs:
        if not run.job.retired:
            findings += launchers.check(run)
    for name, cluster in specs.clusters.items():
        source = specs.sources[f"cluster/{name}"]
        findings += fit.check(cluster, source, schemas_dir(root))
    return runs, findings


def inputs(specs: Specs, folders: Iterable[Rendered], version: str) -> Inputs:
    """Return what the specs ask for; `folders` are all but those of runs."""
    return Inputs(
        jobs=[wanted(job) for job in specs.jobs],
        folders=list(folders),
        live=specs.repository.live,
        setting=specs.sources["repository"].location(("live",)),
        version=version,
        locate=locator(specs),
    )


class Renderer:
    """Renders the runs that are asked for, by what they are wanted as."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self.runs = {(run.team_name, run.job_name): run for run in runs}

    def __call__(self, asked: Sequence[Wanted]) -> Iterator[Rendered]:
        """Yield the folder of each run."""
        from trainyard.synth.folders import run_folders

        return run_folders(self.runs[each.team, each.job] for each in asked)


def platform_folders(specs: Specs, root: Path) -> Iterator[Rendered]:
    """Yield every folder of every cluster but those of runs."""
    from trainyard.synth.folders import cluster_folders

    policies = shipped(root)
    for name in sorted(specs.clusters):
        yield from cluster_folders(specs, name, policies)


def shipped(root: Path) -> list[Mapping[str, Any]]:
    """Return the policies in CEL, which clusters enforce too, by name; raises TrainyardError for a broken one."""
    found: list[Mapping[str, Any]] = []
    for path in sorted(policies_dir(root).glob("*.yaml")):
        documents, findings = load(files.read(path) or b"", file=path.name)
        if findings or not documents or not isinstance(documents[0].value, Mapping):
            raise TrainyardError(
                f"policy {path.name} cannot be read: {findings[0].message if findings else 'it is empty'}"
            )
        found.append(documents[0].value)
    return found


def locator(specs: Specs) -> Any:
    """Return what tells where in the specs an entry of an index came from, as exactly as the spec still allows."""
    sources: dict[str, Source] = {source.file: source for source in specs.sources.values()}
    sources |= {job.source.file: job.source for job in specs.jobs}
    sources |= {extra.source.file: extra.source for extra in specs.extra}

    def locate(entry: index.Entry) -> Location:
        source = sources.get(entry.spec)
        return source.location(entry.field) if source else Location(entry.spec)

    return locate

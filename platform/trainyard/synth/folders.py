"""Folders through cdk8s: what the kinds make of runs and the charts of clusters, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trainyard import clusters, kinds
from trainyard.parts.objects import Folder, new_app
from trainyard.specs.run import Run
from trainyard.specs.sources import Specs
from trainyard.synth.render import Rendered, render_folder


def run_folders(runs: Iterable[Run]) -> Iterator[Rendered]:
    """Yield the folder of each run."""
    app = new_app()
    for run in runs:
        yield text(run.cluster_name, kinds.build(run, app))


def cluster_folders(specs: Specs, cluster: str, policies: Sequence[Mapping[str, Any]]) -> Iterator[Rendered]:
    """Yield every folder of a cluster but those of runs; `policies` are shipped to it."""
    for folder in clusters.build(specs, cluster, new_app(), policies=policies):
        yield text(cluster, folder)


def text(cluster: str, folder: Folder) -> Rendered:
    """Return the files of a folder."""
    return render_folder(cluster, folder.path, folder.objects())

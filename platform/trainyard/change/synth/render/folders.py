"""Folders through cdk8s: each is a chart with constructs in it, and comes out as text with its objects' origins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trainyard.base.findings import Finding
from trainyard.base.manifests import Identity, identity_of
from trainyard.base.system import reads
from trainyard.base.system.repository import team_file
from trainyard.change.constructs import cluster as constructs
from trainyard.change.constructs.base import Foreign, Objects
from trainyard.change.constructs.folder import Folder, new_app
from trainyard.change.constructs.run import TrainingRun
from trainyard.change.constructs.site import Site, Space
from trainyard.change.synth.render import programs
from trainyard.change.synth.render.text import Origin, Rendered, render_files, render_folder
from trainyard.judge.preflight.between.extra_objects import check_object, elsewhere
from trainyard.render import clusters
from trainyard.render.clusters import SETTINGS, Own
from trainyard.render.kinds import Resolved
from trainyard.render.prerequisites.page import page
from trainyard.render.tree import layout
from trainyard.specs.sources import Specs
from trainyard.specs.tracked import on


def run_folders(runs: Iterable[Resolved]) -> Iterator[Rendered]:
    """Yield the folder of each run."""
    app = new_app()
    for run in runs:
        folder = Folder(app, f"runs/{run.run.team_name}/{run.run.name}")
        inside = TrainingRun(folder, "run", run=run)
        yield text(run.run.cluster_name, folder, inside, {"job": run.run.source.file})


def cluster_folders(
    specs: Specs, cluster: str, policies: Sequence[Mapping[str, Any]], root: Path
) -> Iterator[Rendered]:
    """Yield every folder of a cluster but those of runs; `policies` are shipped to it.

    Programs of one's own are below `root`; what is wrong with one is a finding of the folder that it adds to.
    """
    app = new_app()
    own, wrong = owns(specs, cluster, root)
    with reads.apart():  # where files are follows from their keys, not from what they say
        files = {f"team/{name}": team_file(name) for name in specs.clusters[cluster].teams()}
        files |= {key: source.file for key, source in specs.sources.items()}
    files["cluster"] = files[f"cluster/{cluster}"]
    found = clusters.folders(specs, cluster, policies, own)
    for path, finding in elsewhere(found, own):
        wrong[path].append(finding)
    for path in found:
        folder, theirs = Folder(app, path), own.get(path, ())
        if theirs:
            Foreign(folder, "own", values=[item.value for item in theirs])
        without = frozenset(item.identity for item in theirs)
        inside = fill(folder, specs, cluster, policies, found, own, without)
        origins = {item.identity: Origin(item.place.file) for item in theirs}
        yield text(cluster, folder, inside, files, origins, findings=tuple(wrong.get(path, ())))
    for path, plain in clusters.node_files(specs.clusters[cluster]).items():
        yield render_files(cluster, path, [(file, Origin(files[file.source], file.at)) for file in plain])
    yield Rendered(cluster, "", {layout.PREREQUISITES: page(specs, cluster)}, {})
    for path in wrong.keys() - found.keys():
        yield Rendered(cluster, path, {}, {}, tuple(wrong[path]))


def owns(specs: Specs, cluster: str, root: Path) -> tuple[dict[str, list[Own]], dict[str, list[Finding]]]:
    """Return the repository's own objects on a cluster by folder, programs' too, and what is wrong with programs."""
    own = clusters.of_files(specs, cluster)
    taken = {item.identity: item.place.file for objects in own.values() for item in objects}
    wrong: dict[str, list[Finding]] = defaultdict(list)
    for program in on(specs.programs, cluster):
        reads.forget()  # what a program makes may follow from more than is known here
        ran = programs.run(root, program, specs)
        wrong[program.folder] += ran.findings
        for value in ran.values:
            refused = list(check_object(value, ran.place, taken))
            wrong[program.folder] += refused
            own.setdefault(program.folder, []).extend([] if refused else [Own(value, ran.place)])
    return own, wrong


def fill(
    folder: Folder,
    specs: Specs,
    name: str,
    policies: Sequence[Mapping[str, Any]],
    found: Mapping[str, Any],
    own: Mapping[str, Sequence[Own]],
    without: frozenset[Identity],
) -> Objects:
    """Put what is ours into a folder, by its path."""
    site = Site(name, specs.clusters[name], specs.repository)
    top, _, rest = folder.path.partition("/")
    if folder.path == SETTINGS:
        return constructs.ArgoCdSettings(folder, "settings", site=site)
    match top:
        case "argocd":
            folders = [path for path in found if path != "argocd"]
            kinds = clusters.own_kinds(own)
            return constructs.ArgoCd(folder, "argocd", specs=specs, cluster_name=name, folders=folders, own=kinds)
        case "operators":
            return constructs.OperatorInstall(folder, rest, operator=rest, site=site)
        case "hardware":
            return constructs.Hardware(folder, "hardware", site=site)
        case "platform":
            return constructs.Platform(folder, "platform", site=site, policies=policies, without=without)
        case "monitoring":
            return constructs.Monitoring(folder, "monitoring", site=site)
        case "virtual-clusters":
            team = specs.teams.get(site.cluster.virtual_clusters[rest].team)
            return constructs.VirtualCluster(folder, rest, name=rest, site=site, team=team)
        case "teams":
            space = Space(rest, specs.teams[rest], site, clusters.of_team(specs, name, rest))
            return constructs.TeamSpace(folder, rest, space=space, without=without)
        case _:
            return constructs.TeamRuns(folder, rest, space=Space(rest, specs.teams[rest], site))


def text(
    cluster: str,
    folder: Folder,
    inside: Objects,
    files: Mapping[str, str],
    origins: Mapping[Identity, Origin] | None = None,
    findings: tuple[Finding, ...] = (),
) -> Rendered:
    """Return the files of a folder; `files` are the spec files by the name that resources give their source."""
    known = {resource.identity: Origin(files[resource.source], resource.at) for resource in inside.resources} | dict(
        origins or {}
    )
    objects = [(value, known[identity_of(value)]) for value in folder.objects()]
    return render_folder(cluster, folder.path, objects, findings)

"""What is wrong with the specs, before anything is rendered: one call, which every command that reads them makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.credentials import PLAIN
from trainyard.findings import Finding
from trainyard.kinds import Resolved
from trainyard.policies.policy import Policy, unusable, usable
from trainyard.preflight import disks, folders, jobs, names, objects, order, own, plain, trusted, users
from trainyard.preflight.waivers import Waivers
from trainyard.specs.load import Loaded, read_repository
from trainyard.specs.order import after_of
from trainyard.specs.reading.layout import Place
from trainyard.specs.reading.python_jobs import may_make
from trainyard.specs.shapes import known
from trainyard.specs.sources import ExtraFile, JobFile, Printed, ProgramFile, Specs, prefix_of
from trainyard.system import memory
from trainyard.system.data import policy_files, policy_id, schemas_dir
from trainyard.system.repository import JOBS
from trainyard.system.unforeseen import UNFORESEEN, judged

__all__ = ["Checked", "Waivers", "check", "check_cluster", "check_jobs", "check_repository", "waived"]


@dataclass(frozen=True, slots=True)
class Checked:
    """The specs of a repository, the runs of those jobs that can be rendered, and everything that was found."""

    specs: Specs
    runs: tuple[Resolved, ...] = ()
    findings: list[Finding] = field(default_factory=list)
    waivers: Waivers = field(default_factory=Waivers)
    """What is accepted, for those who look at objects."""
    printed: tuple[Printed, ...] = ()
    """What programs that make jobs print."""
    idle: tuple[Place, ...] = ()
    """The programs that make jobs and were not run."""

    @property
    def refused(self) -> bool:
        """Whether an error stands, so that nothing may be written."""
        return any(finding.is_error for finding in self.findings)


def check_repository(root: Path, *, home: Path | None = None) -> Checked:
    """Read the specs below a repository's root, and say everything that is wrong with them.

    `home` is the repository whose schemas and policies count, by default the same. Raises SpecError where the folder
    is no repository or cannot be read, and TrainyardError for a policy that cannot be used.
    """
    return check(read_repository(root), home or root)


@memory.uncollected()
def check(loaded: Loaded, home: Path) -> Checked:
    """Say everything that is wrong with specs that were read."""
    schemas = schemas_dir(home)
    runs, findings = check_jobs(loaded, home=home)
    findings = [*loaded.findings, *findings, *check_between(loaded)]
    for name in loaded.specs.clusters:
        findings += check_cluster(loaded, name, schemas)
    waivers = Waivers.of(loaded)
    ordered = sorted(dict.fromkeys(waived(loaded, waivers, findings)), key=lambda finding: finding.order)
    open_ = {(each.location.file, prefix_of(each.message)) for each in ordered if each.rule == PLAIN.id}
    shown = (run for run in runs if (run.run.source.file, run.run.source.prefix) not in open_)
    return Checked(loaded.specs, tuple(shown), ordered, waivers, loaded.printed, loaded.idle)


def waived(loaded: Loaded, waivers: Waivers, findings: Iterable[Finding]) -> list[Finding]:
    """Return what is left of everything that was found in specs, and what is wrong with the waivers.

    Credentials are looked for here, since nothing else that was found may show them.
    """
    found = plain.check(loaded)
    left = waivers.left([*findings, *found.findings])
    return [found.hidden(each) for each in (*left, *waivers.wrong(), *waivers.unneeded(before=True))]


@memory.uncollected()
def check_jobs(loaded: Loaded, *, home: Path | None = None) -> tuple[list[Resolved], list[Finding]]:
    """Return the runs of jobs that can be rendered, retired ones included, and what is wrong with all jobs.

    What a run's objects would be is looked at too, by the policies of `home`, by default the jobs' own repository.
    """
    runs: list[Resolved] = []
    findings: list[Finding] = []
    accepted = Waivers.of(loaded)
    for file in loaded.specs.jobs:
        run, found = check_job(loaded, file, accepted)
        runs += [run] if run else []
        findings += found
    findings += jobs.check_names(loaded.specs, loaded.rest, broken=loaded.broken)
    lost = frozenset((job.team, job.name) for job in loaded.rest) | idle(loaded)
    findings += order.check(loaded.specs, [(each.folder, each.name) for each in loaded.places], broken=lost)
    findings += folders.check(loaded.specs)
    policies = usable(path for path in policy_files(home or loaded.root) if path.suffix == ".py")
    said = check_objects(loaded.specs, runs, policies, home or loaded.root)
    refused = {run.run.name for run, finding in said if finding.is_error and not accepted.covers(finding)}
    findings += (finding for _, finding in said)
    return [run for run in runs if run.run.name not in refused], findings


def across_lines(root: Path, file: str) -> frozenset[tuple[str, str]]:
    """Return in which rules and sentences the runs of one file of jobs cross their team's lines, as rendered now."""
    loaded = read_repository(root)
    accepted = Waivers.of(loaded)
    checked = (check_job(loaded, job, accepted)[0] for job in loaded.specs.jobs if job.source.file == file)
    return frozenset(crossing for run in checked if run for crossing in objects.across_lines(loaded.specs, run))


def check_job(loaded: Loaded, file: JobFile, accepted: Waivers) -> tuple[Resolved | None, list[Finding]]:
    """Return the run of a job and what is wrong with it; no run, and an error, of one that stops Trainyard itself."""
    return judged(
        lambda: jobs.check(loaded.specs, file, broken=loaded.broken, accepted=accepted.covers),
        lambda why: (None, [UNFORESEEN.at(file.source, (), f"this job cannot be judged: {why}")]),
    )


Said = list[tuple[Resolved, Finding]]


def check_objects(specs: Specs, runs: Sequence[Resolved], policies: Sequence[Policy], home: Path) -> Said:
    """Return what is found in the objects of runs; where one stops that, it is an error, and the others are judged.

    Runs that stop it only together stop the command.
    """

    def one_by_one(_: str) -> Said:
        wrong = {id(run): found for run in runs if (found := alone(specs, run, policies, home))}
        left = [run for run in runs if id(run) not in wrong]
        return [*(each for found in wrong.values() for each in found), *objects.check(specs, left, policies, home)]

    return judged(lambda: list(objects.check(specs, runs, policies, home)), one_by_one)


def alone(specs: Specs, run: Resolved, policies: Sequence[Policy], home: Path) -> Said:
    """Return the error of a run whose objects cannot be judged, nothing of any other."""

    def look() -> Said:
        for _ in objects.check(specs, [run], policies, home):
            pass
        return []

    return judged(
        look, lambda why: [(run, UNFORESEEN.at(run.run.source, (), f"this job's objects cannot be judged: {why}"))]
    )


def idle(loaded: Loaded) -> frozenset[tuple[str, str]]:
    """Return the jobs that others come after and that programs may make which were not run."""
    named = (each for file in loaded.specs.jobs for each in after_of(file.team, file.job)) if loaded.idle else ()
    return frozenset(each for each in named if any(may_make(place, *each) for place in loaded.idle))


def check_between(loaded: Loaded) -> Iterator[Finding]:
    """Yield what is wrong between files that are neither a job's nor a single cluster's."""
    from trainyard.preflight import inventory, teams

    yield from names.check_folders(loaded.places, loaded.specs.teams, broken=loaded.broken)
    yield from inventory.destinations(loaded.specs)
    yield from teams.check(loaded.specs, broken=loaded.broken)
    added: list[ExtraFile | ProgramFile] = [*loaded.specs.extra, *loaded.specs.programs]
    for file in added:
        yield from names.check_extra(loaded.specs, file, broken=loaded.broken)
    yield from own.check(loaded.specs)
    yield from trusted.check(loaded.root)
    yield from unusable(policy_files(loaded.root))
    if loaded.specs.repository.policies:
        yield from names.check_switched_off(loaded.specs, {policy_id(path) for path in policy_files(loaded.root)})


def check_cluster(loaded: Loaded, name: str, schemas: Path) -> list[Finding]:
    """Return what is wrong with a cluster; an error of one that stops Trainyard itself."""
    source = loaded.specs.sources[f"cluster/{name}"]
    return judged(
        lambda: check_together(loaded, name, schemas),
        lambda why: [UNFORESEEN.at(source, (), f"this cluster cannot be judged: {why}")],
    )


def check_together(loaded: Loaded, name: str, schemas: Path) -> list[Finding]:
    """Return what does not go together on a cluster: its inventory, operators and their values, fabric and kubelets."""
    from trainyard.preflight import (  # which no job needs
        attached,
        daemons,
        devices,
        digests,
        fabric,
        gpudirect,
        gpus,
        inventory,
        kubelet,
        networks,
        nvlink,
        overcommit,
        pairing,
        promises,
        ranges,
        recovery,
        schedulers,
        separate,
        starts,
        storage,
        values,
        windows,
    )

    cluster, source = loaded.specs.clusters[name], loaded.specs.sources[f"cluster/{name}"]
    teams = names.present("team", loaded.specs.teams, loaded.broken)
    shaped = all(known(pool.shape) for pool in cluster.pools.values())
    findings = [
        *inventory.check(cluster, source, teams),
        *windows.check(cluster, source),
        *ranges.check(cluster, source),
        *overcommit.check(cluster, source),
        *pairing.check(cluster, source),
        *values.check(cluster, source, schemas),
        *digests.check(cluster, source),
        *fabric.check(cluster, source),
        *separate.check(cluster, source),
        *(devices.check(cluster, source) if shaped else ()),
        *(networks.check(cluster, source) if shaped else ()),
        *attached.check(cluster, source),
        *storage.check(cluster, source),
        *nvlink.check(cluster, source),
        *kubelet.check(cluster, source),
        *(starts.check_cluster(cluster, source) if shaped else ()),
        *disks.check_pools(cluster, source),
        *users.check_pools(cluster, source),
        *recovery.check(cluster, source),
        *schedulers.check(cluster, source),
        *(promises.check(cluster, source) if shaped else ()),
        *daemons.check(cluster, source),
        *gpudirect.check(cluster, source),
        *gpus.check(cluster, source),
    ]
    platform = [finding for finding in loaded.findings if not finding.location.file.startswith(f"{JOBS}/")]
    if not any(finding.is_error for finding in (*platform, *findings)):
        findings += own.check_folders(loaded.specs, name)  # which takes a cluster that can be rendered
    return findings

"""Show what a job's pods request and why, and which launchers and kinds it could use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trainyard.faces.cli import _job_names
from trainyard.faces.cli._options import PLAIN, PYTHON, ROOT, TRUST_CHECKOUT, UNSAFE_PYTHON, clusters, jobs
from trainyard.faces.cli._out import data, page, say
from trainyard.faces.cli._unrun_programs import verdicts_with_idle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainyard.change.plan.effects import Mark
    from trainyard.judge.admission.verdicts import Verdict
    from trainyard.judge.preflight import Checked
    from trainyard.render.kinds import Resolved
    from trainyard.render.kinds.pairs import Pair
    from trainyard.specs import Cluster

EXAMPLES = (
    "trainyard explain nlp/llama3-8b",
    "trainyard explain nlp/llama3-8b --kind JobSet",
    "trainyard explain kinds",
    "trainyard explain cluster cumulus",
)

PAIRS, CLUSTER = "kinds", "cluster"
"""What is asked for instead of a job, which always has its team before it."""


def command(
    job: str = typer.Argument(
        autocompletion=jobs,
        help="A job, as in nlp/llama3-8b; or the word kinds, to list which launcher runs in which kind; or the word "
        "cluster, to list what a cluster needs that somebody else installs.",
    ),
    name: str | None = typer.Argument(None, autocompletion=clusters, help="With cluster: the name of the cluster."),
    kind: str | None = typer.Option(None, help="Show what would change if the job used this kind."),
    cluster: str | None = typer.Option(
        None, autocompletion=clusters, help="With kinds: only those that this cluster runs; default: all."
    ),
    format_: str = PLAIN,
    python: bool = PYTHON,  # noqa: ARG001 - its callback does it
    trust_checkout: bool = TRUST_CHECKOUT,  # noqa: ARG001
    unsafe_python: bool = UNSAFE_PYTHON,  # noqa: ARG001
    root: Path = ROOT,
) -> int:
    """Show what a job's pods request, and where each value comes from."""
    if job == CLUSTER and name is not None:
        from trainyard.faces.cli._prerequisites import of_cluster

        return of_cluster(root, name, as_json=format_ == "json")
    if name is not None or job == CLUSTER:
        from trainyard.base.errors import SpecError

        raise SpecError("write one job, or cluster and the name of one: `trainyard explain cluster NAME`")
    if job == PAIRS:
        return pairs(root, cluster, as_json=format_ == "json")
    if cluster is not None:
        from trainyard.base.errors import SpecError

        raise SpecError("--cluster works only with `trainyard explain kinds`; remove it, since a job names its cluster")
    from trainyard.faces.cli._findings import print_output, show
    from trainyard.judge import frozen
    from trainyard.specs.editing.named import job_of

    checked = frozen.check_specs(root, jobs=[job_of(job, root)])
    print_output(checked.printed)
    show(checked.findings)
    if checked.findings:
        say("these findings are about specs; `trainyard check` also judges the manifests", error=True)
    resolved = find(checked, job, root)
    if isinstance(resolved, int):
        return resolved
    if kind is not None:
        return in_kind(checked, resolved, kind, root, as_json=format_ == "json")
    return facts(resolved, checked, root, as_json=format_ == "json") or int(checked.refused)


def find(checked: Checked, name: str, root: Path) -> Resolved | int:
    """Return the run of a job, or the exit code where there is none to explain; raises SpecError for no job at all."""
    from trainyard.specs.editing.named import job_of, unknown_job

    known = {f"{run.run.team_name}/{run.run.job_name}": run for run in checked.runs}
    job = job_of(name, root)
    if job in known:
        return known[job]
    there = {f"{job_file.team}/{job_file.name}": job_file.job for job_file in checked.specs.jobs}
    if job in there and there[job].retired:
        say(f"job {job!r} is retired and requests nothing")
        return int(checked.refused)
    if job in there or _job_names.has_errors(checked, job):
        say(f"job {job!r} cannot run; run `trainyard check` for the reason", error=True)
        return 1
    raise unknown_job(job, known, checked.idle)


def facts(resolved: Resolved, checked: Checked, root: Path, *, as_json: bool) -> int:
    """Print every value of a run with its origin, and whether Kueue would admit it."""
    from trainyard.faces.cli import _table
    from trainyard.render.kinds import hangs, starts
    from trainyard.render.kinds.pairs import as_text
    from trainyard.render.prerequisites import faults
    from trainyard.render.sizing import waiting

    run = resolved.run
    pools = frozenset(role.size.pool for role in resolved.roles)
    found = (*resolved.facts(), *starts.facts(resolved), *waiting.facts(run, pools))
    found = (*found, *faults.costs(resolved), *hangs.facts(resolved))
    rows = [(name, as_text(sized.value), sized.origin) for name, sized in found]
    me = f"{run.team_name}/{run.job_name}"
    judged = [] if checked.refused else verdicts_with_idle(checked, root, [me])[1]
    rows += [("admission", f"{verdict.word}: {verdict.detail}", origin(verdict)) for verdict in judged]
    marked = marks(resolved)
    if as_json:
        table = [{"name": name, "value": value, "origin": origin} for name, value, origin in rows]
        own = [{"what": mark.word, "says": mark.what, "reason": mark.reason or None} for mark in marked]
        whole = {"run": run.name, "kind": run.kind, "cluster": run.cluster_name, "facts": table, "marks": own}
        data(json.dumps(whole, indent=1))
        return 0
    say(f"{run.kind} {run.namespace}/{run.name} on cluster {run.cluster_name}")
    for line in _table.lines(rows, within=_table.columns()):
        say(line)
    if marked:
        from trainyard.change.plan.words.runs import mark_lines

        say("for reviewers")
        for line in mark_lines(marked):
            say(f"{_table.MARGIN}{line}")
    return 0


def origin(verdict: Verdict) -> str:
    """Return which scheduler decided, and which jobs it considered."""
    ask = verdict.ask
    who = "Volcano" if ask.gang else "Kueue"
    return f"{who}'s decision {'alone on its cluster' if ask.gang or ask.later else 'among all declared jobs'}"


def marks(resolved: Resolved) -> tuple[Mark, ...]:
    """Return patches, waivers, what is outside of our containers, and what pods may beyond the strictest level."""
    from trainyard.change.plan.compare.marks import marks
    from trainyard.render.kinds import build
    from trainyard.specs.run import written_fields

    return marks(written_fields(resolved.run.job), [resource.value() for resource in build(resolved)])


def in_kind(checked: Checked, before: Resolved, kind: str, root: Path, *, as_json: bool) -> int:
    """Print what would change if a job named another kind: 1 where it cannot run in that."""
    from trainyard.faces.cli._findings import show
    from trainyard.judge.preflight.other_kind import instead
    from trainyard.render.kinds.pairs import differences

    run = before.run
    job = f"{run.team_name}/{run.job_name}"
    if kind == run.kind:
        say(f"job {job!r} is in kind {kind!r}; nothing would change")
        return 0
    file = next(
        job_file for job_file in checked.specs.jobs if (job_file.team, job_file.name) == (run.team_name, run.job_name)
    )
    after, findings = instead(checked.specs, file, kind, home=root)
    there = {(finding.rule, finding.message) for finding in checked.findings}
    show(finding for finding in findings if (finding.rule, finding.message) not in there)
    if after is None or any(finding.is_error for finding in findings):
        say(f"job {job!r} cannot run in kind {kind!r}; see the findings above", error=True)
        return 1
    found = list(differences(before, after))
    if as_json:
        rows = [
            {"name": difference.name, "before": difference.before, "after": difference.after} for difference in found
        ]
        data(json.dumps({"job": job, "before": run.kind, "after": kind, "differences": rows}, indent=1))
        return 0
    say(f"job {job!r} in kind {kind} instead of {run.kind}: a new run, {after.run.name}; these values change")
    for difference in found:
        say(f"  {difference.name}")
        say(f"    - {difference.before if difference.before is not None else 'not there'}")
        say(f"    + {difference.after if difference.after is not None else 'not there'}")
    say("everything else stays as it is: world size, ranks, sizes, variables, volumes")
    return 0


def pairs(root: Path, cluster: str | None, *, as_json: bool) -> int:
    """Print which launcher runs in which kind, of all there are or of a cluster's."""
    from trainyard.render.kinds import available, kinds
    from trainyard.render.kinds.pairs import pairs as table
    from trainyard.render.launchers import launchers

    here = list(kinds().values()) if cluster is None else available(of_name(root, cluster))
    rows = table(list(launchers().values()), here)
    if as_json:
        found = [
            {"launcher": pair.launcher.name, "kind": pair.kind.name, "runs": pair.word, "why": pair.why}
            for row in rows
            for pair in row
        ]
        data(json.dumps(found, indent=1))
        return 0
    for line in lines(rows):
        page(line)
    return 0


def lines(rows: list[list[Pair]]) -> Iterator[str]:
    """Yield a table of pairs, a line a kind, and what kinds do not give to launchers."""
    from trainyard.render.launchers import NEEDS

    width = max((len(pair.kind.name) for row in rows for pair in row), default=0)
    columns = [max(len(row[0].launcher.name), *(len(pair.word) for pair in row)) for row in rows if row]
    yield " " * width + "".join(f"  {row[0].launcher.name:<{size}}" for row, size in zip(rows, columns, strict=True))
    for row in zip(*rows, strict=True):
        cells = (f"  {item.word:<{size}}" for item, size in zip(row, columns, strict=True))
        yield f"{row[0].kind.name:<{width}}{''.join(cells)}".rstrip()
    lacking: dict[str, list[str]] = {}
    for word, name in sorted({(word, pair.kind.name) for row in rows for pair in row for word in pair.lacks}):
        lacking.setdefault(word, []).append(name)
    for word, names in lacking.items():
        yield f"\n{word}: {NEEDS.get(word, word)}; not in {', '.join(names)}"


def of_name(root: Path, name: str) -> Cluster:
    """Return a cluster by its name; raises SpecError where there is none."""
    from trainyard.specs.editing.named import cluster_of
    from trainyard.specs.load import read_repository

    clusters = read_repository(root).specs.clusters
    return clusters[cluster_of(name, clusters)]

"""Say what a job's pods ask for and why, what another kind would change, and which launcher runs in which kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trainyard.cli import _asked
from trainyard.cli._options import PLAIN, PYTHON, ROOT, TRUST_CHECKOUT, UNSAFE_PYTHON, clusters, jobs
from trainyard.cli._out import data, page, say
from trainyard.cli._standing import beside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainyard.admission.verdicts import Verdict
    from trainyard.kinds import Resolved
    from trainyard.kinds.pairs import Pair
    from trainyard.plan.effects import Mark
    from trainyard.preflight import Checked
    from trainyard.specs import Cluster

PAIRS = "kinds"
"""What is asked for instead of a job, which always has its team before it."""


def command(
    job: str = typer.Argument(
        autocompletion=jobs, help="<team>/<job>, as in nlp/llama3-8b; or kinds: which launcher runs in which kind."
    ),
    kind: str | None = typer.Option(None, help="Say what would change if the job named this kind."),
    cluster: str | None = typer.Option(
        None, autocompletion=clusters, help="Of kinds: those that this cluster runs, by default all."
    ),
    format_: str = PLAIN,
    python: bool = PYTHON,  # noqa: ARG001 - its callback does it
    trust_checkout: bool = TRUST_CHECKOUT,  # noqa: ARG001
    unsafe_python: bool = UNSAFE_PYTHON,  # noqa: ARG001
    root: Path = ROOT,
) -> int:
    """Say what a job's pods ask for, and from what each value follows."""
    if job == PAIRS:
        return pairs(root, cluster, as_json=format_ == "json")
    if cluster is not None:
        from trainyard.errors import SpecError

        raise SpecError("--cluster is of `trainyard explain kinds`; a job names its cluster")
    from trainyard.cli._findings import show, told
    from trainyard.tree import frozen

    checked = frozen.checked(root)
    told(checked.printed)
    show(checked.findings)
    resolved = find(checked, job, root)
    if isinstance(resolved, int):
        return resolved
    if kind is not None:
        return in_kind(checked, resolved, kind, root, as_json=format_ == "json")
    return facts(resolved, checked, root, as_json=format_ == "json") or int(checked.refused)


def find(checked: Checked, name: str, root: Path) -> Resolved | int:
    """Return the run of a job, or the exit code where there is none to explain; raises SpecError for no job at all."""
    from trainyard.specs.editing.named import job_of, unknown

    known = {f"{each.run.team_name}/{each.run.job_name}": each for each in checked.runs}
    job = job_of(name, root)
    if job in known:
        return known[job]
    there = {f"{each.team}/{each.name}": each.job for each in checked.specs.jobs}
    if job in there and there[job].retired:
        say(f"job {job!r} is retired, and asks for nothing")
        return int(checked.refused)
    if job in there or _asked.refused(checked, job):
        say(f"job {job!r} cannot run; its findings say why", error=True)
        return 1
    raise unknown(job, known, checked.idle)


def facts(resolved: Resolved, checked: Checked, root: Path, *, as_json: bool) -> int:
    """Print every value of a run with its origin, and whether Kueue would admit it."""
    from trainyard.cli import _table
    from trainyard.kinds import starts
    from trainyard.kinds.pairs import as_text

    run = resolved.run
    found = (*resolved.facts(), *starts.facts(resolved))
    rows = [(name, as_text(sized.value), sized.origin) for name, sized in found]
    me = f"{run.team_name}/{run.job_name}"
    judged = [] if checked.refused else beside(checked, root, [me])[1]
    rows += [("admission", f"{each.word}: {each.detail}", origin(each)) for each in judged]
    marked = marks(resolved)
    if as_json:
        table = [{"name": name, "value": value, "origin": origin} for name, value, origin in rows]
        own = [{"what": each.word, "says": each.what, "reason": each.reason or None} for each in marked]
        whole = {"run": run.name, "kind": run.kind, "cluster": run.cluster_name, "facts": table, "marks": own}
        data(json.dumps(whole, indent=1))
        return 0
    say(f"{run.kind} {run.namespace}/{run.name} on cluster {run.cluster_name}")
    for line in _table.lines(rows, within=_table.columns()):
        say(line)
    if marked:
        from trainyard.plan.words.runs import mark_lines

        say("what a reviewer should see")
        for line in mark_lines(marked):
            say(f"{_table.MARGIN}{line}")
    return 0


def origin(verdict: Verdict) -> str:
    """Return whose decision a verdict is, and about whom it was asked."""
    ask = verdict.ask
    who = "Volcano" if ask.gang else "Kueue"
    return f"{who}'s decision {'alone on its cluster' if ask.gang or ask.later else 'among all declared jobs'}"


def marks(resolved: Resolved) -> tuple[Mark, ...]:
    """Return patches, waivers, what is outside of our containers, and what pods may beyond the strictest level."""
    from trainyard.kinds import build
    from trainyard.plan.compare.marks import marks
    from trainyard.specs.run import written

    return marks(written(resolved.run.job), [each.value() for each in build(resolved)])


def in_kind(checked: Checked, before: Resolved, kind: str, root: Path, *, as_json: bool) -> int:
    """Print what would change if a job named another kind: 1 where it cannot run in that."""
    from trainyard.cli._findings import show
    from trainyard.kinds.pairs import differences
    from trainyard.preflight.instead import instead

    run = before.run
    job = f"{run.team_name}/{run.job_name}"
    if kind == run.kind:
        say(f"job {job!r} is in kind {kind!r}; nothing would change")
        return 0
    file = next(each for each in checked.specs.jobs if (each.team, each.name) == (run.team_name, run.job_name))
    after, findings = instead(checked.specs, file, kind, home=root)
    there = {(each.rule, each.message) for each in checked.findings}
    show(each for each in findings if (each.rule, each.message) not in there)
    if after is None or any(each.is_error for each in findings):
        say(f"job {job!r} cannot run in kind {kind!r}; its findings say why", error=True)
        return 1
    found = list(differences(before, after))
    if as_json:
        rows = [{"name": each.name, "before": each.before, "after": each.after} for each in found]
        data(json.dumps({"job": job, "before": run.kind, "after": kind, "differences": rows}, indent=1))
        return 0
    say(f"job {job!r} in kind {kind} instead of {run.kind}: a new run, {after.run.name}; these values change")
    for each in found:
        say(f"  {each.name}")
        say(f"    - {each.before if each.before is not None else 'not there'}")
        say(f"    + {each.after if each.after is not None else 'not there'}")
    say("everything else stays as it is: world size, ranks, sizes, variables, volumes")
    return 0


def pairs(root: Path, cluster: str | None, *, as_json: bool) -> int:
    """Print which launcher runs in which kind, of all there are or of a cluster's."""
    from trainyard.kinds import available, kinds
    from trainyard.kinds.pairs import pairs as table
    from trainyard.launchers import launchers

    here = list(kinds().values()) if cluster is None else available(of_name(root, cluster))
    rows = table(list(launchers().values()), here)
    if as_json:
        found = [
            {"launcher": each.launcher.name, "kind": each.kind.name, "runs": each.word, "why": each.why}
            for row in rows
            for each in row
        ]
        data(json.dumps(found, indent=1))
        return 0
    for line in lines(rows):
        page(line)
    return 0


def lines(rows: list[list[Pair]]) -> Iterator[str]:
    """Yield a table of pairs, a line a kind, and what kinds do not give to launchers."""
    from trainyard.launchers import NEEDS

    width = max((len(each.kind.name) for row in rows for each in row), default=0)
    columns = [max(len(row[0].launcher.name), *(len(each.word) for each in row)) for row in rows if row]
    yield " " * width + "".join(f"  {row[0].launcher.name:<{size}}" for row, size in zip(rows, columns, strict=True))
    for row in zip(*rows, strict=True):
        cells = (f"  {each.word:<{size}}" for each, size in zip(row, columns, strict=True))
        yield f"{row[0].kind.name:<{width}}{''.join(cells)}".rstrip()
    lacking: dict[str, list[str]] = {}
    for word, name in sorted({(word, each.kind.name) for row in rows for each in row for word in each.lacks}):
        lacking.setdefault(word, []).append(name)
    for word, names in lacking.items():
        yield f"\n{word}: {NEEDS.get(word, word)}; not in {', '.join(names)}"


def of_name(root: Path, name: str) -> Cluster:
    """Return a cluster by its name; raises SpecError where there is none."""
    from trainyard.specs.editing.named import cluster_of
    from trainyard.specs.load import read_repository

    clusters = read_repository(root).specs.clusters
    return clusters[cluster_of(name, clusters)]

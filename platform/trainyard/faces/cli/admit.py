"""Show whether each job would be admitted, on which nodes, and which jobs would lose quota."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trainyard.faces.cli import _job_names, _pictures
from trainyard.faces.cli._options import PLAIN, PYTHON, ROOT, TRUST_CHECKOUT, UNSAFE_PYTHON, clusters, jobs
from trainyard.faces.cli._out import data, say
from trainyard.faces.cli._pictures import SVG
from trainyard.faces.cli._unrun_programs import verdicts_with_idle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trainyard.judge.admission.decided import Decider
    from trainyard.judge.admission.verdicts import Verdict
    from trainyard.specs import Cluster

EXAMPLES = ("trainyard admit", "trainyard admit nlp/llama3-8b -v", "trainyard admit --replay cases.jsonl")


def command(
    names: list[str] | None = typer.Argument(
        None, metavar="JOB", autocompletion=jobs, help="Jobs, as <team>/<job>; default: all jobs."
    ),
    cluster: list[str] | None = typer.Option(
        None, metavar="NAME", autocompletion=clusters, help="Only jobs of this cluster; repeatable."
    ),
    verbose: bool = typer.Option(
        False, "--verbose", "-v", help="Also print the amounts behind each verdict and Kueue's own messages."
    ),
    replay: str | None = typer.Option(
        None,
        metavar="FILE",
        help="Answer the cases of a file or of -, standard input, one JSON document per line (see docs/queueing.md).",
    ),
    svg: Path | None = SVG,
    format_: str = PLAIN,
    python: bool = PYTHON,  # noqa: ARG001 - its callback does it
    trust_checkout: bool = TRUST_CHECKOUT,  # noqa: ARG001
    unsafe_python: bool = UNSAFE_PYTHON,  # noqa: ARG001
    root: Path = ROOT,
) -> int:
    """Predict whether Kueue admits each job: alone on its cluster, and together with all other jobs."""
    from trainyard.base.errors import SpecError

    if replay is not None:
        if names:
            raise SpecError("--replay takes no jobs; remove them")
        from trainyard.faces.cli import _cases

        return _cases.replayed(replay)
    from trainyard.faces.cli._findings import print_output, show
    from trainyard.judge import frozen
    from trainyard.judge.admission import own_jobs
    from trainyard.judge.admission.rules import findings
    from trainyard.specs.editing.named import cluster_of, job_of

    where = _pictures.folder_for(svg, root) if svg is not None else None
    checked = frozen.check_specs(root, jobs=[job_of(name, root) for name in names or ()])
    only = [cluster_of(name, checked.specs.clusters) for name in cluster or ()]
    asked, silent = _job_names.jobs(checked, names or (), only, root)
    print_output(checked.printed)
    idle, found = verdicts_with_idle(checked, root, asked, only)
    idle.print_notes()
    never = list(findings(found, checked.findings))
    if not names:
        never += own_jobs.findings(checked.specs, only or sorted(checked.specs.clusters), checked.findings)
    show([*checked.findings, *never], root)
    for line in silent:
        say(line, error=True)
    if format_ == "json":
        data(json.dumps([document(verdict, checked.specs.clusters) for verdict in found], indent=1))
    else:
        print_text(found, checked.specs.clusters, verbose=verbose)
    if where is not None:
        drawn = _pictures.of_clusters(checked, sorted({verdict.cluster for verdict in found}), idle.objects)
        _pictures.print_paths(_pictures.write(where, drawn))
    wrong = any(finding.is_error for finding in never)
    return int(checked.refused or wrong or any(verdict.word == "never fits" for verdict in found))


def print_text(found: Sequence[Verdict], clusters: Mapping[str, Cluster], *, verbose: bool) -> None:
    """Print verdicts, cluster by cluster."""
    from trainyard.faces.cli import _table
    from trainyard.judge.admission.decided import stand_ins

    for cluster in dict.fromkeys(verdict.cluster for verdict in found):
        mine = [verdict for verdict in found if verdict.cluster == cluster]
        notes = "; ".join(stand_ins(clusters[cluster])) if cluster in clusters else ""
        say(f"cluster {cluster} ({notes})" if notes else f"cluster {cluster}")
        rows = [(verdict.ask.name, verdict.word, verdict.detail) for verdict in mine]
        if not verbose:
            lines: Iterator[str] | list[str] = _table.lines(rows, within=_table.columns())
        else:
            lines = [line for verdict in mine for line in arithmetic(verdict)]
        for line in lines:
            say(line)


def arithmetic(verdict: Verdict) -> Iterator[str]:
    """Yield a verdict with what is asked for and what Kueue says in each situation."""
    from trainyard.judge.admission import gangs
    from trainyard.judge.admission.placed import lines
    from trainyard.judge.admission.quota_use import SITUATIONS, request_lines, situation_lines

    ask = verdict.ask
    selectors = ask.run.run.cluster.selectors if ask.run else {}
    counts = request_lines({"alone": [gangs.answer(ask, selectors, {})]} if ask.gang else verdict.situations)
    yield f"  {ask.name}  {verdict.word}  {verdict.detail}"
    there, alone = verdict.machines.get("together"), verdict.machines.get("alone")
    hosts = lines(there) if there else (f"{SITUATIONS['alone']}: {line}" for line in lines(alone)) if alone else ()
    for line in (*counts, *hosts, *situation_lines(verdict.situations), *verdict.quota):
        yield f"    {line}"


def document(verdict: Verdict, clusters: Mapping[str, Cluster]) -> dict[str, object]:
    """Return a verdict as JSON has it."""
    from trainyard.judge.admission.decided import PLACER, deciders
    from trainyard.judge.admission.placed import document as machines

    ask, cluster = verdict.ask, clusters.get(verdict.cluster)
    known = {decider.scheduler: plain(decider) for decider in deciders(cluster)} if cluster else {}
    return {
        "job": ask.name,
        "run": ask.run.run.name if ask.run else None,
        "cluster": verdict.cluster,
        "scheduler": known.get("volcano" if ask.gang else "kueue"),
        "placer": None if ask.gang else known.get(PLACER),
        "verdict": verdict.word,
        "detail": verdict.detail,
        "changes": verdict.changes,
        "workloads": [] if ask.gang else ask.keys,
        "situations": verdict.situations,
        "machines": {name: machines(fit) for name, fit in verdict.machines.items()},
    }


def plain(decider: Decider) -> dict[str, str]:
    """Return a scheduler as JSON has it."""
    return {"name": decider.scheduler, "release": decider.release, "decidedAs": decider.decided_as}

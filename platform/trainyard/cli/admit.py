"""Say of each job whether Kueue would admit it, where, and at whose expense."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trainyard.cli import _asked, _pictures
from trainyard.cli._options import PLAIN, PYTHON, ROOT, TRUST_CHECKOUT, UNSAFE_PYTHON, clusters, jobs
from trainyard.cli._out import data, say
from trainyard.cli._pictures import SVG
from trainyard.cli._standing import beside

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainyard.admission.verdicts import Verdict


def command(
    names: list[str] | None = typer.Argument(
        None, metavar="JOB", autocompletion=jobs, help="<team>/<job>; default: every job."
    ),
    cluster: list[str] | None = typer.Option(
        None, metavar="NAME", autocompletion=clusters, help="Only jobs of this cluster; repeatable."
    ),
    verbose: bool = typer.Option(False, "--verbose", "-v", help="With the arithmetic, and Kueue's own words."),
    replay: Path | None = typer.Option(
        None, metavar="FILE", help="Answer the cases in a file instead, a JSON document a line: docs/queueing.md."
    ),
    svg: Path | None = SVG,
    format_: str = PLAIN,
    python: bool = PYTHON,  # noqa: ARG001 - its callback does it
    trust_checkout: bool = TRUST_CHECKOUT,  # noqa: ARG001
    unsafe_python: bool = UNSAFE_PYTHON,  # noqa: ARG001
    root: Path = ROOT,
) -> int:
    """Say of each job whether Kueue would admit it: alone on its cluster, and with all other jobs there."""
    from trainyard.errors import SpecError

    if replay is not None:
        if names:
            raise SpecError("--replay answers the cases in a file, and no jobs; leave them out")
        from trainyard.cli import _cases

        return _cases.replayed(replay)
    from trainyard.admission.rules import findings
    from trainyard.cli._findings import show, told
    from trainyard.specs.editing.named import cluster_of
    from trainyard.tree import frozen

    where = _pictures.folder_for(svg, root) if svg is not None else None
    checked = frozen.checked(root)
    only = [cluster_of(name, checked.specs.clusters) for name in cluster or ()]
    asked, silent = _asked.jobs(checked, names or (), only, root)
    told(checked.printed)
    idle, found = beside(checked, root, asked, only)
    idle.told()
    never = list(findings(found, checked.findings))
    show([*checked.findings, *never], root)
    for line in silent:
        say(line, error=True)
    if format_ == "json":
        data(json.dumps([document(each) for each in found], indent=1))
    else:
        written(found, verbose=verbose)
    if where is not None:
        drawn = _pictures.of_clusters(checked, sorted({each.cluster for each in found}), idle.objects)
        _pictures.told(_pictures.write(where, drawn))
    wrong = any(each.is_error for each in never)
    return int(checked.refused or wrong or any(each.word == "never fits" for each in found))


def written(found: Sequence[Verdict], *, verbose: bool) -> None:
    """Print verdicts, cluster by cluster."""
    from trainyard.cli import _table

    for cluster in dict.fromkeys(each.cluster for each in found):
        mine = [each for each in found if each.cluster == cluster]
        say(f"cluster {cluster}")
        rows = [(each.ask.name, each.word, each.detail) for each in mine]
        if not verbose:
            lines: Iterator[str] | list[str] = _table.lines(rows, within=_table.columns())
        else:
            lines = [line for each in mine for line in arithmetic(each)]
        for line in lines:
            say(line)


def arithmetic(verdict: Verdict) -> Iterator[str]:
    """Yield a verdict with what is asked for and what Kueue says in each situation."""
    from trainyard.admission import gangs
    from trainyard.admission.counted import SITUATIONS, asked, told
    from trainyard.admission.placed import lines

    counts = asked({"alone": [gangs.answer(verdict.ask, {})]} if verdict.ask.gang else verdict.situations)
    yield f"  {verdict.ask.name}  {verdict.word}  {verdict.detail}"
    there, alone = verdict.machines.get("together"), verdict.machines.get("alone")
    hosts = lines(there) if there else (f"{SITUATIONS['alone']}: {line}" for line in lines(alone)) if alone else ()
    for line in (*counts, *hosts, *told(verdict.situations), *verdict.quota):
        yield f"    {line}"


def document(verdict: Verdict) -> dict[str, object]:
    """Return a verdict as JSON has it."""
    from trainyard.admission.placed import document as machines

    ask = verdict.ask
    return {
        "job": ask.name,
        "run": ask.run.run.name if ask.run else None,
        "cluster": verdict.cluster,
        "verdict": verdict.word,
        "detail": verdict.detail,
        "changes": verdict.changes,
        "workloads": [] if ask.gang else ask.keys,
        "situations": verdict.situations,
        "machines": {name: machines(fit) for name, fit in verdict.machines.items()},
    }

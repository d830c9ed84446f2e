"""Write a new job file that passes."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from trainyard.findings import Finding
    from trainyard.specs.sources import Specs

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Write a new file that passes."""


@app.command("job")
def job(
    name: str = typer.Argument(help="<team>/<job>, as in nlp/llama."),
    cluster: str | None = typer.Option(
        None, help="The cluster it runs on; the only one that admits the team, if there is one."
    ),
    queue: str | None = typer.Option(None, help="The queue; the only one that admits the team, if there is one."),
    pool: str | None = typer.Option(None, help="The node pool; the only one, if there is one."),
    image: str | None = typer.Option(None, help="The image, by digest."),
    program: str | None = typer.Option(None, help="The script in the image."),
    launcher: str = typer.Option("torchrun", help="How the processes start."),
    nodes: int = typer.Option(1, help="How many nodes."),
    gpus: int | None = typer.Option(None, help="GPUs a node; all of a node's by default."),
    root: Path = typer.Option(Path(), help="The repository."),
) -> int:
    """Write jobs/<team>/<job>.yaml; asks for what no flag says when a terminal is there to answer."""
    from trainyard.documents import dump
    from trainyard.errors import SpecError
    from trainyard.findings import did_you_mean
    from trainyard.report.text import paragraph
    from trainyard.specs.editing import draft
    from trainyard.specs.load import load_repository
    from trainyard.system import files

    specs, _ = load_repository(root)
    if specs is None:
        raise SpecError("the repository has problems of its own; `trainyard validate` lists them")
    team, _, short = name.partition("/")
    if not short or team not in specs.teams:
        raise SpecError(f"{name!r} should be <team>/<job>; {did_you_mean(team, specs.teams)}")
    path = root / "jobs" / team / f"{short}.yaml"
    if path.exists():
        raise SpecError(f"{path} exists already; edit it, or choose another name")
    places = sorted(key for key, each in specs.clusters.items() if team in each.teams())
    cluster = cluster or ask("cluster", places)
    declared = specs.clusters.get(cluster)
    if declared is None:
        raise SpecError(f"cluster {cluster!r} does not exist; {did_you_mean(cluster, places)}")
    pool = pool or ask("pool", sorted(declared.pools))
    fields = {
        "cluster": cluster,
        "launcher": launcher,
        "image": image or ask("image", ()),
        "program": program or ask("program", ()),
        "pool": pool,
        "nodes": nodes,
        "gpusPerNode": draft.gpus_of(declared, pool) if gpus is None else gpus,
        "queue": queue or ask("queue", sorted(key for key, each in declared.queues.items() if team in each.teams)),
    }
    text = draft.HEADER + dump({key: value for key, value in fields.items() if value != 0})
    problems = check(specs, team, short, text)
    for problem in problems:
        print("\n".join(paragraph(problem)), file=sys.stderr)
    if any(problem.is_error for problem in problems):
        return 1
    files.write(path, text)
    print(f"wrote {path}; next: make synth")
    return 0


def check(specs: Specs, team: str, name: str, text: str) -> list[Finding]:
    """Return what is wrong with a job file before it is written: its fields, its references, and its kind."""
    from dataclasses import replace

    from trainyard.specs.editing import draft
    from trainyard.workloads.resolve import resolve

    file, findings = draft.read(specs, team=team, name=name, text=text)
    return findings if file is None else [*findings, *resolve(replace(specs, jobs=(file,)))[1]]


def ask(what: str, choices: Iterable[str]) -> str:
    """Return the only choice, or ask on a terminal; raises SpecError where nobody can answer."""
    from trainyard.errors import SpecError

    known = list(choices)
    if len(known) == 1:
        return known[0]
    if not sys.stdin.isatty():
        hint = f"; there are: {', '.join(known)}" if known else ""
        raise SpecError(f"--{what} is missing{hint}")
    answer: str = typer.prompt(f"{what} ({', '.join(known)})" if known else what)
    return answer

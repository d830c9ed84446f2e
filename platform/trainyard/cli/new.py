"""Write a new job file that passes."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trainyard.cli._options import ROOT

if TYPE_CHECKING:
    from trainyard.findings import Finding
    from trainyard.specs.load import Loaded

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
    command: str | None = typer.Option(None, help="Any executable and its arguments, instead of a script."),
    launcher: str | None = typer.Option(None, help="How the processes start; torchrun, or exec for a command."),
    nodes: int = typer.Option(1, help="How many nodes."),
    gpus: int | None = typer.Option(None, help="GPUs a node; all of a node's by default."),
    root: Path = ROOT,
) -> int:
    """Write jobs/<team>/<job>.yaml; asks for what no flag says when a terminal is there to answer."""
    from trainyard.cli._findings import show
    from trainyard.documents import dump
    from trainyard.errors import SpecError
    from trainyard.findings import did_you_mean
    from trainyard.sizing.fabrics import fabric_type
    from trainyard.specs.editing import draft
    from trainyard.specs.load import read_repository
    from trainyard.system import files
    from trainyard.system.repository import job_file

    loaded = read_repository(root)
    standing = weigh(root, loaded)
    if any(finding.is_error for finding in standing):  # what a flag would be compared with may not be there
        return refuse(standing)
    specs = loaded.specs
    team, _, short = name.partition("/")
    if not short or team not in specs.teams:
        raise SpecError(f"{name!r} should be <team>/<job>; {did_you_mean(team, specs.teams)}")
    path = root / job_file(team, short)
    if path.exists():
        raise SpecError(f"{path} exists already; edit it, or choose another name")
    made = next((each.source.file for each in specs.jobs if (each.team, each.name) == (team, short)), None)
    if made is not None:
        raise SpecError(f"{made} makes job {name!r} already; choose another name")
    places = sorted(key for key, each in specs.clusters.items() if team in each.teams())
    cluster = cluster or ask("cluster", places)
    declared = specs.clusters.get(cluster)
    if declared is None:
        raise SpecError(f"cluster {cluster!r} does not exist; {did_you_mean(cluster, places)}")
    pool = pool or ask("pool", sorted(declared.pools))
    fields = {
        "cluster": cluster,
        "launcher": launcher or ("exec" if command else "torchrun"),
        "image": image or ask("image", ()),
        **draft.start(program or (None if command else ask("program", ())), command),
        "pool": pool,
        "nodes": nodes,
        "gpusPerNode": draft.gpus_of(declared, pool) if gpus is None else gpus,
        "queue": queue or ask("queue", sorted(key for key, each in declared.queues.items() if team in each.teams)),
    }
    shares = nodes > 1 and fields["gpusPerNode"] and pool in declared.pools
    if shares and fabric_type(declared).reaches(declared, pool):
        fields["fabric"] = "rdma"
    text = draft.HEADER + dump({key: value for key, value in fields.items() if value != 0})
    findings = check(root, loaded, team, short, text)
    if any(finding.is_error for finding in findings):
        return refuse(findings)
    show(findings)
    files.write(path, text)
    print(f"wrote {path}; next: make synth")
    return 0


def check(root: Path, loaded: Loaded, team: str, name: str, text: str) -> list[Finding]:
    """Return what is wrong with the repository once a job file is written."""
    from dataclasses import replace

    from trainyard.specs.editing import draft

    file, findings = draft.read(team=team, name=name, text=text)
    jobs = (*loaded.specs.jobs, *([file] if file else ()))
    return weigh(root, replace(loaded, specs=replace(loaded.specs, jobs=jobs), findings=[*loaded.findings, *findings]))


def weigh(root: Path, loaded: Loaded) -> list[Finding]:
    """Return what is wrong with specs that were read, as it weighs in this change."""
    from trainyard import preflight
    from trainyard.tree.frozen import in_specs, weighed

    found = preflight.check(loaded, root).findings
    return weighed(root, found, loaded.specs.repository, in_specs(root))


def refuse(findings: Iterable[Finding]) -> int:
    """Say what stands against a new file, and that there is none."""
    from trainyard.cli._findings import show

    show(findings)
    print("nothing was written", file=sys.stderr)
    return 1


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

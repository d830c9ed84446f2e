"""Run a job's rendered pods here, as processes."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from trainyard.faces.cli._options import ROOT, jobs
from trainyard.faces.cli._out import page, say
from trainyard.faces.cli._run_lines import Screen
from trainyard.faces.report.legible import escaped

if TYPE_CHECKING:
    from trainyard.faces.local.controllers.base import Object

EXAMPLES = ("trainyard run vision/vit-large --nodes 2 --processes 1", "trainyard run job.yaml --show")

LINES = "\t\n"


def command(
    what: list[str] = typer.Argument(
        autocompletion=jobs, metavar="TEAM/JOB|PATH...", help="A job, or files, folders or - with manifests."
    ),
    nodes: int | None = typer.Option(None, min=1, help="Number of nodes, instead of the number in the job."),
    processes: int | None = typer.Option(None, min=1, help="Processes per node, instead of the number in the job."),
    workdir: Path | None = typer.Option(
        None, metavar="FOLDER", help="Local folder to use as the image's working directory."
    ),
    path: list[str] | None = typer.Option(
        None, metavar="PATH=FOLDER", help="Use this local folder for a path in the containers; repeatable."
    ),
    secret: list[str] | None = typer.Option(
        None, metavar="NAME=FOLDER", help="Use the files of this folder as the keys of a Secret; repeatable."
    ),
    state: Path | None = typer.Option(
        None, metavar="FOLDER", help="Folder that keeps the volumes; default: the user's state folder."
    ),
    kill: list[str] | None = typer.Option(
        None, metavar="RANK@STEP", help="Kill the pod of a rank at a training step; also ROLE-INDEX@STEP."
    ),
    grace: float | None = typer.Option(None, metavar="SECONDS", help="Seconds that pods get to stop."),
    plain: bool = typer.Option(False, "--plain", help="Run plain processes, even if Linux namespaces are available."),
    show: bool = typer.Option(False, "--show", help="Print the command of every container and start nothing."),
    root: Path = ROOT,
) -> int:
    """Run a job's pods on this machine, with their real commands and the variables that operators add."""
    from trainyard.base.errors import TrainyardError
    from trainyard.base.manifests import identity_of
    from trainyard.faces.local import NAMESPACE, work_of
    from trainyard.faces.local.secrets import secret_objects

    objects, told = find_objects(what, root, nodes, processes)
    if workdir is not None and not workdir.is_dir():
        raise TrainyardError(f"--workdir {workdir} is not a folder; name a folder, or leave the option out")
    if grace is not None and not grace >= 0:
        raise TrainyardError(f"--grace {grace:g} is not a valid time; use 0 seconds or more")
    namespaces = {identity_of(value).namespace or NAMESPACE for value in objects}
    objects += secret_objects(folders(secret or (), "--secret"), sorted(namespaces))
    works = work_of(objects)
    if not works:
        say("trainyard: no object here creates pods; name a job, or the manifests of a job", error=True)
        return 1
    for line in told:
        say(f"trainyard: {line}", error=True)
    if show:
        for work in works:
            show_commands(work.pods)
        return 0
    where = {"state": state, "workdir": workdir or default_workdir(root), "paths": folders(path or (), "--path")}
    well = [started(work, kill or (), grace, where, plain=plain) for work in works]
    return 0 if all(well) else 1


def find_objects(
    what: Sequence[str], root: Path, nodes: int | None, processes: int | None
) -> tuple[list[Object], list[str]]:
    """Return the objects of a job or of files, and what is said of them before they run."""
    from trainyard.base.errors import TrainyardError
    from trainyard.base.system.files import STDIN, require_once
    from trainyard.faces.cli._findings import show
    from trainyard.faces.local import scaled
    from trainyard.judge import frozen

    require_once(what)
    if all(item == STDIN or Path(item).exists() for item in what):
        if nodes is not None or processes is not None:
            raise TrainyardError("--nodes and --processes work only for jobs of a repository, not for manifests")
        return scaled.files_in(what), []
    if len(what) > 1:
        missing = next(item for item in what if item != STDIN and not Path(item).exists())
        raise TrainyardError(f"{missing} does not exist; name one job, or files")
    from trainyard.faces.cli.explain import find

    checked = frozen.check_specs(root)
    show(finding for finding in checked.findings if finding.is_error)
    resolved = find(checked, what[0], root)
    if isinstance(resolved, int):
        raise typer.Exit(resolved)
    run, told = scaled.smaller(resolved, nodes=nodes, processes=processes)
    return scaled.objects_of(run, root), told


def folders(pairs: Sequence[str], option: str) -> dict[str, Path]:
    """Return the folders that an option names, by what stands before them; raises TrainyardError for another form."""
    from trainyard.base.errors import TrainyardError

    named = {}
    for pair in pairs:
        name, given, folder = pair.partition("=")
        if not given or not Path(folder).is_dir():
            raise TrainyardError(
                f"{option} {pair} has no folder; write it as {option} {'PATH' if option == '--path' else 'NAME'}=FOLDER"
            )
        named[name.rstrip("/") or "/"] = Path(folder).resolve()
    return named


def default_workdir(root: Path) -> Path:
    """Return the repository's programs, or the folder where this is."""
    programs = root / "jobs" / "programs"
    return (programs if programs.is_dir() else Path()).resolve()


def show_commands(pods: Sequence[Any]) -> None:
    """Print what the containers of pods would run, and with which variables."""
    import shlex

    for pod in pods:
        say(f"{pod.pod.role}-{pod.pod.index}: pod {pod.pod.name}, {pod.address}")
        for container in pod.containers:
            command = shlex.join(container.command) or "the image's own command"
            page(f"  {escaped(container.name)}: {escaped(command, keep=LINES)}")
            for name, value in container.env.items():
                say(f"    {name}={value}")


def started(work: Any, kill: Sequence[str], grace: float | None, where: dict[str, Any], *, plain: bool) -> bool:
    """Run the pods of one object, and return whether all went well."""
    from trainyard.faces.local.session import Session

    screen = Screen([pod.pod for pod in work.pods])
    session = Session(work, screen.say, kill=kill, grace=grace, plain=plain, watch=screen.watch, **where)
    for line in session.warnings:
        screen.say(None, line)
    before = signal.signal(signal.SIGTERM, interrupted)
    try:
        return session.run()
    finally:
        signal.signal(signal.SIGTERM, before)
        screen.clear()


def interrupted(_number: int, _frame: Any) -> None:
    """Turn a request to end into what Ctrl-C is."""
    raise KeyboardInterrupt

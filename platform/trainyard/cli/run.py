"""Run a job's rendered pods here, as processes."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from trainyard.cli._options import ROOT, jobs
from trainyard.cli._out import page, say
from trainyard.cli._screen import Screen
from trainyard.report.legible import escaped

if TYPE_CHECKING:
    from trainyard.local.controllers.base import Object


LINES = "\t\n"


def command(
    what: list[str] = typer.Argument(
        autocompletion=jobs, metavar="TEAM/JOB|PATH...", help="A job, or files and folders of manifests."
    ),
    nodes: int | None = typer.Option(None, min=1, help="Of a job: so many nodes instead of its own."),
    processes: int | None = typer.Option(None, min=1, help="Of a job: so many processes on a node."),
    workdir: Path | None = typer.Option(None, metavar="FOLDER", help="In place of the image's own folder."),
    path: list[str] | None = typer.Option(
        None, metavar="PATH=FOLDER", help="A folder here in place of a path of the container; repeatable."
    ),
    secret: list[str] | None = typer.Option(
        None, metavar="NAME=FOLDER", help="A Secret: its keys are the folder's files; repeatable."
    ),
    state: Path | None = typer.Option(None, metavar="FOLDER", help="Where volumes stay; default: this user's state."),
    kill: list[str] | None = typer.Option(
        None, metavar="RANK@STEP", help="Kill the processes of a rank's pod at a step, or ROLE-INDEX@STEP."
    ),
    grace: float | None = typer.Option(None, metavar="SECONDS", help="At most so long for pods to end."),
    plain: bool = typer.Option(False, "--plain", help="Plain processes, also where namespaces are possible."),
    show: bool = typer.Option(False, "--show", help="Print what every container would run; start nothing."),
    root: Path = ROOT,
) -> int:
    """Run a job's rendered pods here: their own commands and variables, with what operators add."""
    from trainyard.errors import TrainyardError
    from trainyard.local import NAMESPACE, work_of
    from trainyard.local.secrets import given
    from trainyard.manifests import identity_of

    objects, told = found(what, root, nodes, processes)
    if workdir is not None and not workdir.is_dir():
        raise TrainyardError(f"--workdir {workdir} is no folder; name one, or leave it out")
    if grace is not None and not grace >= 0:
        raise TrainyardError(f"--grace {grace:g} is no time to wait; name 0 seconds or more")
    namespaces = {identity_of(value).namespace or NAMESPACE for value in objects}
    objects += given(folders(secret or (), "--secret"), sorted(namespaces))
    works = work_of(objects)
    if not works:
        say("trainyard: nothing here makes pods; name a job, or the manifests of one", error=True)
        return 1
    for line in told:
        say(f"trainyard: {line}", error=True)
    if show:
        for work in works:
            shown(work.pods)
        return 0
    where = {"state": state, "workdir": workdir or default_workdir(root), "paths": folders(path or (), "--path")}
    well = [started(work, kill or (), grace, where, plain=plain) for work in works]
    return 0 if all(well) else 1


def found(what: Sequence[str], root: Path, nodes: int | None, processes: int | None) -> tuple[list[Object], list[str]]:
    """Return the objects of a job or of files, and what is said of them before they run."""
    from trainyard.cli._findings import show
    from trainyard.errors import TrainyardError
    from trainyard.local import scaled
    from trainyard.tree import frozen

    if all(Path(each).exists() for each in what):
        if nodes is not None or processes is not None:
            raise TrainyardError("--nodes and --processes are for jobs of a repository; manifests run as they are")
        return scaled.files_in([Path(each) for each in what]), []
    if len(what) > 1:
        missing = next(each for each in what if not Path(each).exists())
        raise TrainyardError(f"{missing} does not exist; name one job, or files")
    from trainyard.cli.explain import find

    checked = frozen.checked(root)
    show(each for each in checked.findings if each.is_error)
    resolved = find(checked, what[0], root)
    if isinstance(resolved, int):
        raise typer.Exit(resolved)
    run, told = scaled.smaller(resolved, nodes=nodes, processes=processes)
    return scaled.objects_of(run, root), told


def folders(pairs: Sequence[str], option: str) -> dict[str, Path]:
    """Return the folders that an option names, by what stands before them; raises TrainyardError for another form."""
    from trainyard.errors import TrainyardError

    named = {}
    for pair in pairs:
        name, given, folder = pair.partition("=")
        if not given or not Path(folder).is_dir():
            raise TrainyardError(f"{option} {pair} names no folder; write it as in {option} NAME=FOLDER")
        named[name.rstrip("/") or "/"] = Path(folder).resolve()
    return named


def default_workdir(root: Path) -> Path:
    """Return the repository's programs, or the folder where this is."""
    programs = root / "jobs" / "programs"
    return (programs if programs.is_dir() else Path()).resolve()


def shown(pods: Sequence[Any]) -> None:
    """Print what the containers of pods would run, and with which variables."""
    import shlex

    for pod in pods:
        say(f"{pod.pod.role}-{pod.pod.index}: pod {pod.pod.name}, {pod.address}")
        for container in pod.containers:
            command = shlex.join(container.command) or "what the image starts"
            page(f"  {escaped(container.name)}: {escaped(command, keep=LINES)}")
            for name, value in container.env.items():
                say(f"    {name}={value}")


def started(work: Any, kill: Sequence[str], grace: float | None, where: dict[str, Any], *, plain: bool) -> bool:
    """Run the pods of one object, and return whether all went well."""
    from trainyard.local.session import Session

    screen = Screen([each.pod for each in work.pods])
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

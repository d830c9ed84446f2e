"""Write the files of a new repository."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trainyard.faces.cli._out import page, say

if TYPE_CHECKING:
    from trainyard.base.findings import Finding
    from trainyard.faces.drafts.skeleton import Answers, Skeleton

EXAMPLES = (
    "trainyard init training --wheel trainyard_gitops-0.1.0-py3-none-any.whl",
    "trainyard init . --ci github --repo-url https://git.example.com/platform/training.git",
)

LIVE_LATER = (
    "live is false, so runs are not frozen; set it to true in platform/repository.yaml before Argo CD syncs generated/"
)


def command(
    folder: Path = typer.Argument(help="The folder to write to; created if it does not exist."),
    wheel: str | None = typer.Option(
        None,
        metavar="FILE|URL#sha256=HASH",
        help="The wheel to install there, pinned by its hash; default: the one that this program was installed from.",
    ),
    live: bool = typer.Option(
        False, "--live/--no-live", help="Whether clusters already sync the repository; if so, merged runs are frozen."
    ),
    repo_url: str | None = typer.Option(
        None, metavar="URL", help="Address from which Argo CD reads the repository; default: the Git remote origin."
    ),
    registry: str | None = typer.Option(None, help="The registry, or registry/path, of the images."),
    ci: str | None = typer.Option(None, metavar="github|gitlab", help="Also write a CI pipeline and CODEOWNERS."),
    cluster: str | None = typer.Option(None, help="Name of the example cluster; default: dev."),
    team: str | None = typer.Option(None, help="Name of the first team; default: research."),
    empty: bool = typer.Option(False, "--empty", help="Write no example: no cluster, no team, no job."),
    makefile: str | None = typer.Option(
        None, metavar="NAME", help="Name of the makefile, to include it from one that exists; default: Makefile."
    ),
    no_make: bool = typer.Option(False, "--no-make", help="Write no makefile."),
    upgrade: bool = typer.Option(False, "--upgrade", help="Only pin this release, in a repository that exists."),
) -> int:
    """Write a new repository: a Makefile that installs this release of Trainyard, and an example job.

    On a terminal, it asks for values that no option sets. Files that exist in the folder stay as they are.
    """
    from trainyard.base.errors import SpecError
    from trainyard.base.system import files
    from trainyard.faces.cli._ask import Asker
    from trainyard.faces.drafts import skeleton as skeletons
    from trainyard.faces.drafts.makefiles import MAKEFILE, wrong_name
    from trainyard.faces.drafts.repository import RepositoryDraft

    for parent in (folder, *folder.parents):
        if os.path.lexists(parent) and not parent.is_dir():
            what = "is a broken link" if parent.is_symlink() and not parent.exists() else "is a file"
            raise SpecError(f"{parent} {what}; choose a folder")
    options = {"wheel": wheel, "repo-url": repo_url, "registry": registry, "ci": ci, "cluster": cluster, "team": team}
    if upgrade:
        return upgraded(
            folder,
            options | {"live": live or None, "empty": empty or None, "makefile": makefile, "no-make": no_make or None},
        )
    if no_make and makefile:
        raise SpecError("--no-make cannot be combined with --makefile; remove one")
    if makefile is not None and (wrong := wrong_name(makefile)):
        raise SpecError(wrong)
    named = None if no_make else makefile or MAKEFILE
    draft, asker = RepositoryDraft(folder, live=live, empty=empty, makefile=named), Asker.of(options)
    if wheel is None and not asker.terminal and (missing := draft.wrong_wheel("")):
        raise SpecError(missing)
    asker.fill(draft)
    answers = draft.finished()
    wanted = dict(skeletons.files(answers))
    findings = weighed(wanted)
    if findings:
        return show_errors(findings)
    skeleton = skeletons.planned(folder, wanted, answers.ci)
    if skeleton.taken:
        names = ", ".join(skeleton.taken)
        stands = "exists already; move it away" if len(skeleton.taken) == 1 else "exist already; move them away"
        make = ", use --makefile trainyard.mk" if skeleton.taken == [MAKEFILE] else ""
        raise SpecError(f"{names} {stands}{make}, or choose another folder")
    for path, data in skeleton.write.items():
        files.write(folder / path, data)
    for lines in result_lines(folder, skeleton, answers, asked=repo_url is None):
        page(lines)
    return 0


def upgraded(folder: Path, options: Mapping[str, str | bool | None]) -> int:
    """Pin this release in a repository that another one has begun; all else is as its owner has it."""
    from trainyard.base.errors import SpecError
    from trainyard.base.system import files
    from trainyard.faces.drafts.makefiles import makefile_of
    from trainyard.faces.drafts.skeleton import pinned
    from trainyard.faces.drafts.wheel import FOLDER, wheel_of

    if more := [name for name, value in options.items() if value is not None and name != "wheel"]:
        raise SpecError(f"--{more[0]} has no effect with --upgrade; remove it")
    pin = folder / FOLDER / "trainyard.txt"
    if not pin.is_file():
        raise SpecError(f"{pin} does not exist; create a repository without --upgrade")
    named = options["wheel"]
    wheel = wheel_of(named if isinstance(named, str) else None, folder)
    for path, data in pinned(wheel):
        files.write(folder / path, data)
    for old in sorted((folder / FOLDER).glob("trainyard_gitops-*.whl")):
        if wheel.place != f"./{FOLDER}/{old.name}":
            files.remove(old, top=folder)
            say(f"removed {old}")
    say(f"pinned {wheel.place}; next: run {synth(makefile_of(folder))} on a new branch")
    return 0


def weighed(wanted: Mapping[str, bytes]) -> list[Finding]:
    """Return the errors in specs that are not written yet, which names and addresses may make."""
    from trainyard.base.system import files, scratch
    from trainyard.judge.preflight import check_repository

    with scratch.folder("init") as folder:
        for path, data in wanted.items():
            if path.startswith(("jobs/", "platform/")):
                files.write(folder / path, data)
        return [finding for finding in check_repository(folder).findings if finding.is_error]


def show_errors(findings: Iterable[Finding]) -> int:
    """Print the errors of the answers."""
    from trainyard.faces.cli._findings import show

    show(findings)
    say("nothing was written", error=True)
    return 1


def result_lines(folder: Path, skeleton: Skeleton, answers: Answers, *, asked: bool) -> Iterable[str]:
    """Yield the written files, the manual steps, and the next command."""
    import shlex

    from trainyard.base.system import git
    from trainyard.faces.drafts.makefiles import MAKEFILE
    from trainyard.faces.drafts.owners import organisation, paths, rules
    from trainyard.faces.drafts.repository import PLACEHOLDER

    made = len(skeleton.write) - len(skeleton.grown)
    yield f"wrote {made} files to {folder}"
    for path, count in skeleton.grown.items():
        yield f"added {count} line{'' if count == 1 else 's'} to {path}"
    for path in skeleton.kept:
        yield f"kept {path} as it was"
        if path.endswith("CODEOWNERS"):
            listed = (folder / path).read_text(encoding="utf-8", errors="replace").split()
            for team in (one_team for one_team in answers.teams if not set(paths(one_team)) <= set(listed)):
                yield f"it needs these lines:\n{rules(team, f'@{organisation(answers.repo_url)}/{team}')}".rstrip()
    if asked and answers.repo_url == PLACEHOLDER:
        yield "repoURL in platform/repository.yaml is a placeholder; write the address from which Argo CD reads it"
    if not answers.live:
        yield LIVE_LATER
    repository = git.find(folder)
    for path in repository.ignored([*skeleton.write, "generated/"]) if repository else ():
        yield f"Git ignores {path}; remove the entry from .gitignore, or others will not get the file"
    there = "" if folder.resolve() == Path().resolve() else f"cd {shlex.quote(str(folder))} && "
    if answers.makefile not in (MAKEFILE, None):
        yield f"to have its targets in your Makefile, add this line at its end: include {answers.makefile}"
    begin = "" if repository else "git init && "
    yield f"next: {there}{begin}{steps(answers.makefile)}"


def steps(makefile: str | None) -> str:
    """Return the commands that set up a new repository, render it and check it."""
    from trainyard.faces.drafts.makefiles import called

    return f"{synth(makefile)} && {called('make check', makefile)}"


def synth(makefile: str | None) -> str:
    """Return the commands that install what is pinned, and render."""
    from trainyard.faces.drafts.makefiles import INSTALL, called

    return " && ".join([*(INSTALL if makefile is None else ()), called("make synth", makefile)])

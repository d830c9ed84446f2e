"""Write the skeleton of a repository of one's own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trainyard.cli._out import page, say

if TYPE_CHECKING:
    from trainyard.drafts.skeleton import Answers, Skeleton
    from trainyard.findings import Finding

LIVE_LATER = (
    "live is false, so nothing is frozen: turn it on in platform/repository.yaml before Argo CD syncs generated/"
)


def command(
    folder: Path = typer.Argument(help="The folder to write to; made if it does not exist."),
    wheel: str | None = typer.Option(
        None,
        metavar="FILE|URL#sha256=HASH",
        help="The wheel to install there, pinned by its hash; by default the one that this was installed from.",
    ),
    live: bool = typer.Option(
        False, "--live/--no-live", help="Whether clusters sync it already, so that merged runs are frozen."
    ),
    repo_url: str | None = typer.Option(
        None, metavar="URL", help="Where Argo CD finds the repository; by default the remote origin."
    ),
    registry: str | None = typer.Option(None, help="The registry, or registry/path, that images come from."),
    ci: str | None = typer.Option(None, metavar="github|gitlab", help="Write a pipeline and CODEOWNERS, too."),
    cluster: str | None = typer.Option(None, help="How the example's cluster is called; dev by default."),
    team: str | None = typer.Option(None, help="How the first team is called; research by default."),
    empty: bool = typer.Option(False, "--empty", help="Leave the example out: no cluster, no team, no job."),
    upgrade: bool = typer.Option(False, "--upgrade", help="Pin this release in a repository that is there, alone."),
) -> int:
    """Write a repository of one's own: a Makefile that installs this Trainyard, and an example to begin with.

    Asks for what no option says where a terminal is there to answer. What the folder has already stays as it is.
    """
    from trainyard.cli._ask import Asker
    from trainyard.drafts import skeleton as skeletons
    from trainyard.drafts.repository import RepositoryDraft
    from trainyard.errors import SpecError
    from trainyard.system import files

    for each in (folder, *folder.parents):
        if os.path.lexists(each) and not each.is_dir():
            what = "leads nowhere" if each.is_symlink() and not each.exists() else "is a file"
            raise SpecError(f"{each} {what}; choose a folder")
    options = {"wheel": wheel, "repo-url": repo_url, "registry": registry, "ci": ci, "cluster": cluster, "team": team}
    if upgrade:
        return upgraded(folder, options | {"live": live or None, "empty": empty or None})
    draft, asker = RepositoryDraft(folder, live=live, empty=empty), Asker.of(options)
    if wheel is None and not asker.terminal and (missing := draft.wrong_wheel("")):
        raise SpecError(missing)
    asker.fill(draft)
    answers = draft.finished()
    wanted = dict(skeletons.files(answers))
    findings = weighed(wanted)
    if findings:
        return refused(findings)
    skeleton = skeletons.planned(folder, wanted, answers.ci)
    if skeleton.taken:
        names = ", ".join(skeleton.taken)
        stands = "exists already; move it away" if len(skeleton.taken) == 1 else "exist already; move them away"
        raise SpecError(f"{names} {stands}, or choose another folder")
    for path, data in skeleton.write.items():
        files.write(folder / path, data)
    for lines in said(folder, skeleton, answers):
        page(lines)
    return 0


def upgraded(folder: Path, options: Mapping[str, str | bool | None]) -> int:
    """Pin this release in a repository that another one has begun; all else is as its owner has it."""
    from trainyard.drafts.skeleton import pinned
    from trainyard.drafts.wheel import FOLDER, wheel_of
    from trainyard.errors import SpecError
    from trainyard.system import files

    if more := [name for name, value in options.items() if value is not None and name != "wheel"]:
        raise SpecError(f"--{more[0]} says nothing here; leave it out")
    pin = folder / FOLDER / "trainyard.txt"
    if not pin.is_file():
        raise SpecError(f"{pin} does not exist; begin a repository without --upgrade")
    named = options["wheel"]
    wheel = wheel_of(named if isinstance(named, str) else None, folder)
    for path, data in pinned(wheel):
        files.write(folder / path, data)
    for old in sorted((folder / FOLDER).glob("trainyard_gitops-*.whl")):
        if wheel.place != f"./{FOLDER}/{old.name}":
            files.remove(old, top=folder)
            say(f"removed {old}")
    say(f"pinned {wheel.place}; next: make synth, in a branch of its own")
    return 0


def weighed(wanted: Mapping[str, bytes]) -> list[Finding]:
    """Return the errors in specs that are not written yet, which names and addresses may make."""
    from trainyard.preflight import check_repository
    from trainyard.system import files, scratch

    with scratch.folder("init") as folder:
        for path, data in wanted.items():
            if path.startswith(("jobs/", "platform/")):
                files.write(folder / path, data)
        return [finding for finding in check_repository(folder).findings if finding.is_error]


def refused(findings: Iterable[Finding]) -> int:
    """Say what stands against the answers."""
    from trainyard.cli._findings import show

    show(findings)
    say("nothing was written", error=True)
    return 1


def said(folder: Path, skeleton: Skeleton, answers: Answers) -> Iterable[str]:
    """Yield what was done, what is left to do by hand, and what comes next."""
    import shlex

    from trainyard.drafts.owners import organisation, paths, rules
    from trainyard.drafts.repository import PLACEHOLDER
    from trainyard.system import git

    made = len(skeleton.write) - len(skeleton.grown)
    yield f"wrote {made} files to {folder}"
    for path, count in skeleton.grown.items():
        yield f"added {count} line{'' if count == 1 else 's'} to {path}"
    for path in skeleton.kept:
        yield f"left {path} as it is"
        if path.endswith("CODEOWNERS"):
            listed = (folder / path).read_text(encoding="utf-8", errors="replace").split()
            for team in (each for each in answers.teams if not set(paths(each)) <= set(listed)):
                yield f"it needs these lines:\n{rules(team, f'@{organisation(answers.repo_url)}/{team}')}".rstrip()
    if answers.repo_url == PLACEHOLDER:
        yield "repoURL in platform/repository.yaml is not yours yet; Argo CD reads the repository from there"
    if not answers.live:
        yield LIVE_LATER
    repository = git.find(folder)
    for path in repository.ignored([*skeleton.write, "generated/"]) if repository else ():
        yield f"Git ignores {path}; take that out of .gitignore, since nobody else would get it"
    there = "" if folder.resolve() == Path().resolve() else f"cd {shlex.quote(str(folder))} && "
    yield f"next: {there}{'' if repository else 'git init && '}make synth && make check"

"""Writes pictures of clusters into a folder that somebody names, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from trainyard.cli._out import say

if TYPE_CHECKING:
    from trainyard.pictures import Picture
    from trainyard.plan import Plan
    from trainyard.preflight import Checked
    from trainyard.specs.load import Loaded

Links = Mapping[str, tuple[tuple[str, str], ...]]
"""The titles and paths of pictures, by cluster."""

SVG: Any = typer.Option(
    None,
    "--svg",
    metavar="FOLDER",
    help="Write pictures of the clusters there: hosts with the jobs on them, and quota.",
)


def folder_for(folder: Path, root: Path) -> Path:
    """Return where pictures go; raises SpecError where that leads through a link, or belongs to something else."""
    from trainyard.errors import SpecError
    from trainyard.system import files
    from trainyard.system.repository import GENERATED, SPECS

    here, top = Path(os.path.abspath(folder)), Path(os.path.abspath(root))  # noqa: PTH100 - `resolve` follows links
    inside = here.relative_to(top).as_posix() if here.is_relative_to(top) else ""
    if here.is_symlink() or files.is_linked(top, inside if inside != "." else ""):
        raise SpecError(f"--svg {str(folder)!r} leads through a symbolic link; name a folder")
    if here.exists() and not here.is_dir():
        raise SpecError(f"--svg {str(folder)!r} is a file; name a folder")
    if taken := next((each for each in (GENERATED, *SPECS) if f"{inside}/".startswith(f"{each}/")), None):
        raise SpecError(f"--svg {str(folder)!r} is inside {taken}/, which holds no pictures; name another folder")
    return here


def of_change(root: Path, plan: Plan, *, everything: bool) -> Iterator[Picture]:
    """Yield the pictures of a change: of the clusters that it touches, or of all."""
    from trainyard.specs.load import read_repository

    now = read_repository(root)
    with at_base(root, plan.base) as before:
        touched = plan.touched | differing(before, now)
        names = [name for name in now.specs.clusters if everything or name in touched]
        if not names:
            return
        past = checked(before, names, root) if before is not None else None
        there = checked(now, names, root)
        for name in names:
            yield from drawn(name, past, there, compared=True)


def checked(loaded: Loaded, names: Collection[str], home: Path) -> Checked:
    """Return the jobs of some clusters with what is wrong with them: to look at those of others takes time."""
    from trainyard import preflight

    jobs = tuple(each for each in loaded.specs.jobs if each.job.cluster in names)
    return preflight.check(replace(loaded, specs=replace(loaded.specs, jobs=jobs)), home)


def differing(before: Loaded | None, now: Loaded) -> set[str]:
    """Return the clusters whose jobs differ, which a plan that is refused does not know."""
    from trainyard.tree.wanted import wanted

    def runs(side: Loaded) -> set[tuple[str, str, str, str]]:
        return {(*each.key, each.run) for each in map(wanted, side.specs.jobs) if not each.retired}

    return {cluster for cluster, *_ in runs(now) ^ (runs(before) if before is not None else set())}


@contextmanager
def at_base(root: Path, commit: str | None) -> Iterator[Loaded | None]:
    """Give the specs of a commit, None where there is none."""
    from trainyard.specs.load import read_repository
    from trainyard.system import git as system_git
    from trainyard.tree.spec_files import laid_out, spec_files

    git = system_git.find(root)
    if git is None or commit is None:
        yield None
        return
    with laid_out(git, spec_files(git, commit)) as folder:
        yield read_repository(folder)


def of_clusters(checked: Checked, names: Iterable[str]) -> Iterator[Picture]:
    """Yield the pictures of clusters as they are declared."""
    for name in names:
        yield from drawn(name, None, checked, compared=False)


def drawn(name: str, before: Checked | None, now: Checked, *, compared: bool) -> Sequence[Picture]:
    """Return the pictures of a cluster; where its specs are too wrong for any, none, which is said."""
    from trainyard.errors import SpecError
    from trainyard.pictures import decide, pictures

    try:
        past, there = decide(before, now, name)
        return [] if there is None else list(pictures(name, past, there, compared=compared))
    except SpecError as error:
        say(f"no picture of cluster {name}: {error}", error=True)
        return []


def write(folder: Path, found: Iterable[Picture]) -> Links:
    """Write pictures, and return what they are called and where they are, seen from where the command runs.

    Raises SpecError, and writes nothing, where something is there that is no picture of ours: a link never is.
    """
    from trainyard.errors import SpecError
    from trainyard.pictures.svg import is_ours
    from trainyard.system import files

    every = list(found)
    for each in every:
        path = folder / each.file
        if os.path.lexists(path) and not is_ours(files.read_plain(path, most=200)):
            raise SpecError(f"{path} is there and is no picture of ours; move it away, or name another folder")
    done: dict[str, tuple[tuple[str, str], ...]] = {}
    for each in every:
        files.write(folder / each.file, each.svg)
        where = Path(os.path.relpath(folder / each.file)).as_posix()
        done[each.cluster] = (*done.get(each.cluster, ()), (each.title, where))
    return done


def told(done: Links) -> None:
    """Say which pictures were written."""
    for title, path in (each for pairs in done.values() for each in pairs):
        say(f"wrote {path}: {title}", error=True)

"""Writes pictures of clusters into a folder that somebody names, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from trainyard.cli._out import say

if TYPE_CHECKING:
    from trainyard.admission.verdicts import Standing
    from trainyard.pictures import Picture
    from trainyard.plan import Plan
    from trainyard.plan.decide.known import Known
    from trainyard.preflight import Checked

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
    above = next(each for each in (here, *here.parents) if each.exists())
    if not above.is_dir():
        raise SpecError(f"--svg {str(folder)!r} is below {above}, which is a file; name a folder")
    if not os.access(above, os.W_OK | os.X_OK):
        raise SpecError(f"--svg {str(folder)!r} is no place to write: {above} may not be changed; name another folder")
    if taken := next((each for each in (GENERATED, *SPECS) if f"{inside}/".startswith(f"{each}/")), None):
        raise SpecError(f"--svg {str(folder)!r} is inside {taken}/, which holds no pictures; name another folder")
    return here


def of_change(known: Known, plan: Plan, *, everything: bool) -> Iterator[Picture]:
    """Yield the pictures of a change: of the clusters that it touches, or of all."""
    from trainyard.errors import SpecError
    from trainyard.pictures import compare, pictures

    for name in known.names if everything else sorted(plan.touched & set(known.names)):
        try:
            past, there = compare(known, name)
            if there is None:
                say(f"no picture of cluster {name}: its file is wrong", error=True)
            else:
                yield from pictures(name, past, there, compared=True)
        except SpecError as error:
            say(f"no picture of cluster {name}: {error}", error=True)


def of_clusters(checked: Checked, names: Iterable[str], standing: Standing) -> Iterator[Picture]:
    """Yield the pictures of clusters as they are declared, with `standing` runs beside the declared jobs.

    Of a cluster whose specs are too wrong for any it is said.
    """
    from trainyard.errors import SpecError
    from trainyard.pictures import decide, pictures

    for name in names:
        try:
            there = decide(checked, name, standing)
            yield from () if there is None else pictures(name, None, there, compared=False)
        except SpecError as error:
            say(f"no picture of cluster {name}: {error}", error=True)


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

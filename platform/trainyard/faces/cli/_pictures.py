"""Writes pictures of clusters into a folder that somebody names, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from trainyard.faces.cli._out import say

if TYPE_CHECKING:
    from trainyard.change.plan import Plan
    from trainyard.change.plan.decide.sources import Known
    from trainyard.faces.pictures import Picture
    from trainyard.judge.admission.verdicts import Standing
    from trainyard.judge.preflight import Checked

Links = Mapping[str, tuple[tuple[str, str], ...]]
"""The titles and paths of pictures, by cluster."""

SVG: Any = typer.Option(
    None,
    "--svg",
    metavar="FOLDER",
    help="Write pictures of each cluster to this folder: hosts with their jobs, and quota.",
)


def folder_for(folder: Path, root: Path) -> Path:
    """Return where pictures go; raises SpecError where that leads through a link, or belongs to something else."""
    from trainyard.base.errors import SpecError
    from trainyard.base.system import files
    from trainyard.base.system.repository import GENERATED, SPECS

    here, top = Path(os.path.abspath(folder)), Path(os.path.abspath(root))  # noqa: PTH100 - `resolve` follows links
    inside = here.relative_to(top).as_posix() if here.is_relative_to(top) else ""
    if here.is_symlink() or files.is_linked(top, inside if inside != "." else ""):
        raise SpecError(f"--svg {str(folder)!r} leads through a symbolic link; name a plain folder")
    if here.exists() and not here.is_dir():
        raise SpecError(f"--svg {str(folder)!r} is a file; name a folder")
    above = next(parent for parent in (here, *here.parents) if parent.exists())
    if not above.is_dir():
        raise SpecError(f"--svg {str(folder)!r} is below {above}, which is a file; name a folder")
    if not os.access(above, os.W_OK | os.X_OK):
        raise SpecError(
            f"--svg {str(folder)!r} cannot be written: no permission to change {above}; name another folder"
        )
    if taken := next((spec for spec in (GENERATED, *SPECS) if f"{inside}/".startswith(f"{spec}/")), None):
        raise SpecError(f"--svg {str(folder)!r} is inside {taken}/, where pictures do not belong; name another folder")
    return here


def of_change(known: Known, plan: Plan, *, everything: bool) -> Iterator[Picture]:
    """Yield the pictures of a change: of the clusters that it touches, or of all."""
    from trainyard.base.errors import SpecError
    from trainyard.faces.pictures import compare, pictures

    for name in known.names if everything else sorted(plan.touched & set(known.names)):
        try:
            past, there = compare(known, name)
            if there is None:
                say(f"no picture of cluster {name}: its file has errors", error=True)
            else:
                yield from pictures(name, past, there, compared=True)
        except SpecError as error:
            say(f"no picture of cluster {name}: {error}", error=True)


def of_clusters(checked: Checked, names: Iterable[str], standing: Standing) -> Iterator[Picture]:
    """Yield the pictures of clusters as they are declared, with `standing` runs beside the declared jobs.

    Of a cluster whose specs are too wrong for any it is said.
    """
    from trainyard.base.errors import SpecError
    from trainyard.faces.pictures import decide, pictures

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
    from trainyard.base.errors import SpecError
    from trainyard.base.system import files
    from trainyard.faces.pictures.svg import is_ours

    every = list(found)
    for picture in every:
        path = folder / picture.file
        if os.path.lexists(path) and not is_ours(files.read_plain(path, most=200)):
            raise SpecError(f"{path} exists and was not written by Trainyard; move it away, or name another folder")
    done: dict[str, tuple[tuple[str, str], ...]] = {}
    for picture in every:
        files.write(folder / picture.file, picture.svg)
        where = Path(os.path.relpath(folder / picture.file)).as_posix()
        done[picture.cluster] = (*done.get(picture.cluster, ()), (picture.title, where))
    return done


def print_paths(done: Links) -> None:
    """Say which pictures were written."""
    for title, path in (pair for pairs in done.values() for pair in pairs):
        say(f"wrote {path}: {title}", error=True)

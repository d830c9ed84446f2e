"""Ask registries for the CUDA or ROCm in jobs' images."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from trainyard.faces.cli._options import ROOT, jobs
from trainyard.faces.cli._out import say

if TYPE_CHECKING:
    from trainyard.specs.sources import JobFile

EXAMPLES = ("trainyard images", "trainyard images nlp/llama3-8b --write")


def command(
    named: list[str] | None = typer.Argument(
        None, metavar="[JOB]...", autocompletion=jobs, help="Jobs, as in nlp/llama; default: all."
    ),
    write: bool = typer.Option(False, "--write", help="State it in the files of jobs that say nothing of it."),
    root: Path = ROOT,
) -> int:
    """Ask registries for the CUDA or ROCm in jobs' images, and compare it with what job files say.

    Registries are asked with the logins of `docker login`. Runs stay the same. A file that says something else exits 1.
    """
    from trainyard.base.errors import ToolError, TrainyardError
    from trainyard.base.findings import did_you_mean
    from trainyard.faces.live.image_software import software_of
    from trainyard.faces.live.registry import Registries, docker_logins
    from trainyard.specs.load import read_repository

    files = {f"{file.team}/{file.name}": file for file in read_repository(root).specs.jobs}
    for name in named or ():
        if name not in files:
            raise TrainyardError(f"job {name!r} does not exist; {did_you_mean(name, files)}")
    registries, wrong, silent = Registries(docker_logins()), 0, 0
    known: dict[str, dict[str, Any] | None] = {}
    for name in named or files:
        image = files[name].job.image_name
        if image not in known:
            try:
                known[image] = software_of(registries.configuration(image))
            except ToolError as error:
                known[image] = None
                say(f"{name}: {error}", error=True)
        software = known[image]
        if software is None:
            silent += 1
        else:
            wrong += tell(root, name, files[name], software, write=write)
    if silent:
        raise ToolError(f"the images of {silent} jobs could not be read; see above")
    return int(wrong > 0)


def tell(root: Path, name: str, file: JobFile, software: Mapping[str, Any], *, write: bool) -> bool:
    """Print what is in the image of a job, state it where nothing is said, and return whether the file disagrees."""
    from trainyard.base.system import files
    from trainyard.specs.editing.images import state_software

    words = ", ".join(f"{field} {value}" for field, value in software.items()) or "no CUDA and no ROCm"
    stated = file.job.software
    if stated is not None:
        said = stated.model_dump(by_alias=True, exclude_unset=True, exclude={"name"}, mode="json")
        differs = said != dict(software)
        say(
            f"{file.source.file}: the image has {words}"
            + (f", but the file says {said}; correct it" if differs else "")
        )
        return differs
    say(f"{file.source.file}: the image has {words}")
    if write and software and file.source.document is not None:
        path = root / file.source.file
        text = (files.read(path) or b"").decode("utf-8", "surrogateescape")
        files.write(path, state_software(text, file.source.file, software), like=path)
        say(f"{name}: stated in {file.source.file}")
    return False

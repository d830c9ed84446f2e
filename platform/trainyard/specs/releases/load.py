"""The operators that are known: one file each in this folder, and those of entry points."""

from __future__ import annotations

from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from pydantic import ValidationError

from trainyard.base.documents import format_path, load
from trainyard.base.errors import SpecError
from trainyard.base.system.data import own_folder
from trainyard.base.system.registry import added_entry_points
from trainyard.specs.releases.derived import complete_facts
from trainyard.specs.releases.facts import Facts


@cache
def releases() -> dict[str, Facts]:
    """Return every operator by name: the files here, then entry points of the group `trainyard.releases`.

    What they leave unsaid is completed from the API types and charts that come with Trainyard.
    """
    found = facts_of_files()
    for entry in added_entry_points("trainyard.releases"):
        found[entry.name] = entry.load()
    schemas = own_folder("schemas")
    return {name: complete_facts(name, facts, schemas) for name, facts in sorted(found.items())}


def facts_of_files() -> dict[str, Facts]:
    """Return by name what the files of this folder say of operators, and nothing that follows from what is vendored."""
    files = resources.files(__package__).iterdir()
    return {file.name.removesuffix(".yaml"): read(file) for file in files if file.name.endswith(".yaml")}


def read(file: Traversable) -> Facts:
    """Read facts as a file says them, of this folder or of another package; raises SpecError where it is damaged."""
    documents, findings = load(file.read_bytes(), file=file.name)
    if findings:
        raise SpecError(f"facts of an operator in {file.name} cannot be read: {findings[0].message}")
    try:
        return Facts.model_validate(documents[0].value)
    except ValidationError as error:
        (first, *_) = error.errors()
        place = format_path(tuple(first["loc"])) or "it"
        raise SpecError(f"facts of an operator in {file.name} cannot be used: {place}: {first['msg']}") from error


def release(name: str) -> Facts | None:
    """Return the facts of an operator, or None."""
    return releases().get(name)


def names() -> tuple[str, ...]:
    """Return the names of all known operators, sorted."""
    return tuple(releases())


def operators_for(provisioner: str, provider: str | None) -> list[str]:
    """Return the names of the known operators that install a storage driver on nodes of a cloud; None: of any."""
    return [
        name
        for name, facts in releases().items()
        if facts.provisions and provisioner in facts.provisions.provisioners
        if provider is None or facts.provider in {None, provider}
    ]

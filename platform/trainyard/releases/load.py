"""The operators that are known: one file each in this folder, and those of entry points."""

from __future__ import annotations

from functools import cache
from importlib import resources
from importlib.metadata import entry_points

from trainyard.documents import load
from trainyard.errors import SpecError
from trainyard.releases.derived import completed
from trainyard.releases.facts import Facts
from trainyard.system.data import own


@cache
def releases() -> dict[str, Facts]:
    """Return every operator by name: the files here, then entry points of the group `trainyard.releases`.

    What they leave unsaid is completed from the API types and charts that come with Trainyard.
    """
    files = resources.files(__package__).iterdir()
    found = {file.name.removesuffix(".yaml"): read(file.name) for file in files if file.name.endswith(".yaml")}
    for entry in entry_points(group="trainyard.releases"):
        found[entry.name] = entry.load()
    schemas = own("schemas")
    return {name: completed(name, facts, schemas) for name, facts in sorted(found.items())}


def read(file: str) -> Facts:
    """Read one file of this folder; raises SpecError where the package is damaged."""
    documents, findings = load((resources.files(__package__) / file).read_bytes(), file=file)
    if findings:
        raise SpecError(f"releases/{file} cannot be read: {findings[0].message}")
    return Facts.model_validate(documents[0].value)


def release(name: str) -> Facts | None:
    """Return what is known of an operator, or None."""
    return releases().get(name)


def names() -> tuple[str, ...]:
    """Return the names of all known operators, sorted."""
    return tuple(releases())

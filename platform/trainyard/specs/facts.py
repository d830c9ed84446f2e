"""Facts that come as data: a package with a YAML file for each thing, named as the thing is."""

from __future__ import annotations

from importlib import resources
from typing import TypeVar

from pydantic import BaseModel

from trainyard.base.documents import load
from trainyard.base.errors import SpecError

Fact = TypeVar("Fact", bound=BaseModel)


def read_facts(package: str, model: type[Fact], noun: str) -> dict[str, Fact]:
    """Return the facts of a package by name, sorted; raises SpecError, with what a file is about, for a damaged one."""
    found = {}
    for file in sorted(resources.files(package).iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".yaml"):
            documents, findings = load(file.read_bytes(), file=file.name)
            if findings:
                raise SpecError(f"{noun} {file.name} cannot be read: {findings[0].message}")
            found[file.name.removesuffix(".yaml")] = model.model_validate(documents[0].value)
    return found

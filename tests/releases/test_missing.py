"""The importer says which releases only the facts, or only the API types and charts know."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.base.system.data import own_folder
from trainyard.specs.releases import Facts
from trainyard.specs.releases.load import facts_of_files

SCHEMAS = own_folder("schemas")


@pytest.fixture
def missing(root, monkeypatch):
    """Return the importer's function that says what is left to write."""
    monkeypatch.syspath_prepend(str(root / "tools"))
    import schemas_facts

    return lambda facts: list(schemas_facts.missing(facts, SCHEMAS))


def test_nothing_is_left_to_write(missing):
    """Every operator's releases are those of its API types, and somebody read what its chart or manifests make."""
    assert missing(facts_of_files()) == []


def operator(*releases: str, **more: Any) -> Facts:
    """Return facts with some releases."""
    return Facts.model_validate({"namespace": "a", "releases": {name: {"source": "x"} for name in releases}, **more})


CHART = {"repository": "registry.acme.example/charts", "name": "acme"}
LEFT: dict[str, tuple[str, Facts, list[str]]] = {
    "a release with API types alone": (
        "lws",
        operator("0.9.0", clusterKinds=[]),
        [
            "lws 0.10.0: has API types, but no facts; add it to releases of releases/lws.yaml",
            "lws 0.9.0: has facts, but no API types; add it to projects in schemas/lock.yaml, and run make schemas",
        ],
    ),
    "a chart that nobody read": (
        "acme",
        operator("1.2.0", chart=CHART),
        [
            (
                "acme 1.2.0: nobody read the templates of its chart; pull it into <folder>/acme/1.2.0/acme, and run"
                ' make schemas ARGS="--charts <folder>"'
            )
        ],
    ),
    "manifests that nobody read": (
        "acme",
        operator("1.2.0", manifests={"repository": "https://git.acme.example/acme", "path": "config"}),
        ["acme 1.2.0: nobody read the kinds of its manifests; add clusterKinds to releases/acme.yaml"],
    ),
    "an operator of objects of ours alone": ("acme", operator("1.2.0"), []),
}


@pytest.mark.parametrize(("name", "facts", "expected"), LEFT.values(), ids=LEFT)
def test_what_is_left_to_write_is_said(missing, name, facts, expected):
    """A line a release, with the file to write or the command to run."""
    assert missing({name: facts}) == expected

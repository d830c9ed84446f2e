"""The pages on fields are made from the models, and every field says what it is."""

from __future__ import annotations

import pytest

from conftest import ROOT
from headings import anchors
from trainyard.specs import Cluster, Job, Repository, Team
from trainyard.specs.releases import releases
from trainyard.specs.shapes import names

REFERENCE = ROOT / "docs" / "reference"
IN_WORDS_OF_KUEUE = {"BorrowWithinCohort"}
MODELS = {"job": Job, "cluster": Cluster, "team": Team, "repository": Repository}


@pytest.mark.parametrize("name", MODELS)
def test_every_field_says_what_it_is(name):
    """A field without words below it would be an empty row, and say nothing in an editor."""
    schema = MODELS[name].model_json_schema(by_alias=True)
    parts = {title: part for title, part in schema.get("$defs", {}).items() if title not in IN_WORDS_OF_KUEUE}
    for title, part in {name: schema, **parts}.items():
        fields = part.get("properties", {})
        assert not [
            f"{title}.{field}" for field, one_field in fields.items() if not one_field.get("description", "").strip()
        ]


@pytest.mark.parametrize("name", MODELS)
def test_every_field_has_a_row(name):
    """A link to a field, such as `reference/job.md#field-nodes`, leads there."""
    there = anchors(REFERENCE / f"{name}.md")
    assert {f"field-{field.alias}" for field in MODELS[name].model_fields.values()} <= there


def test_every_preset_and_operator_has_its_section():
    """What a cluster's file may name is listed with its source."""
    assert set(names()) <= anchors(REFERENCE / "shapes.md")
    assert set(releases()) <= anchors(REFERENCE / "releases.md")

"""Facts of an operator are read from a file, of Trainyard or of another package, or refused with a reason."""

from __future__ import annotations

import pytest

from trainyard.base.errors import SpecError
from trainyard.specs.releases import read

GOOD = "namespace: acme\nreleases: {'1.0.0': {source: acme docs}}\n"
DAMAGED = {
    "an empty file": ("", "cannot be read: file contains no document"),
    "a list": ("[]\n", "cannot be used: it: Input should be a valid dictionary"),
    "no YAML": ("a: [", "cannot be read: "),
    "a field that does not exist": (f"{GOOD}chrats: {{}}\n", "cannot be used: chrats: Extra inputs"),
    "no release": ("namespace: acme\nreleases: {}\n", "cannot be used: releases: "),
    "a way of attaching that nobody knows": (f"{GOOD}attaches: [tape]\n", "cannot be used: attaches[0]: "),
    "a fact without a source": (
        "namespace: acme\nreleases: {'1.0.0': {}}\n",
        'releases["1.0.0"].source: Field required',
    ),
}


def test_facts_are_read_as_they_stand(tmp_path):
    """Nothing is added to what a file says."""
    (tmp_path / "acme.yaml").write_text(GOOD)
    facts = read(tmp_path / "acme.yaml")
    assert (facts.namespace, facts.model_fields_set) == ("acme", {"namespace", "releases"})


@pytest.mark.parametrize(("text", "words"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_facts_are_refused(tmp_path, text, words):
    """A package's mistake is named with its file and field."""
    (tmp_path / "acme.yaml").write_text(text)
    with pytest.raises(SpecError) as found:
        read(tmp_path / "acme.yaml")
    assert "acme.yaml" in str(found.value)
    assert words in str(found.value)

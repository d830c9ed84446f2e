"""What another release does to the kinds of an operator, from the API types that are vendored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conftest import ROOT
from trainyard.change.upgrade.definitions import compare_kinds
from trainyard.change.upgrade.moves import Move
from trainyard.change.upgrade.steps import first_steps, permanent

SCHEMAS = ROOT / "schemas"
RAILS = "spectrumx.nvidia.com/SpectrumXRailPoolConfig"


def test_a_stored_version_that_is_dropped_is_found():
    """Network Operator 26.4.1 serves a kind in another version alone, so the server refuses its definition."""
    found = compare_kinds(SCHEMAS, "network-operator", "26.1.2", "26.4.1")
    assert found.dropped == ((RAILS, "v1alpha1", True),)
    assert found.stored == ((RAILS, "v1alpha1", "v1alpha2", False),)
    assert "mellanox.com/NicNodePolicy" in found.added
    (step,) = first_steps(found, set())
    assert "status.storedVersions names v1alpha1" in step
    assert len(list(first_steps(found, {(RAILS, "v1alpha1")}))) == 2
    words = list(permanent(Move("network-operator", "26.1.2", "26.4.1"), found))
    assert words[0] == f"{RAILS} is stored as v1alpha2 instead of v1alpha1, which the old release does not serve"


def test_fields_come_and_go():
    """Those that only the new release knows are lost on the way back, and the reverse."""
    up = compare_kinds(SCHEMAS, "trainer", "2.2.1", "2.3.0")
    down = compare_kinds(SCHEMAS, "trainer", "2.3.0", "2.2.1")
    assert ("TrainingRuntime", "spec.mlPolicy.torch.envInjection") in up.new
    assert up.lost == ()
    assert (down.lost, down.new) == (up.new, ())


def test_releases_of_equal_types_have_no_differences():
    """Kueue 0.19.2 has the types of 0.18.6."""
    found = compare_kinds(SCHEMAS, "kueue", "0.18.6", "0.19.2")
    assert (found.read, found.added, found.removed, found.dropped, found.stored, found.lost, found.new) == (
        *(True, (), (), (), (), (), ()),
    )


def test_types_that_nobody_imported_are_not_compared():
    """A project with types says so for a release without; one that defines no kinds has nothing to compare."""
    assert not compare_kinds(SCHEMAS, "kueue", "0.17.8", "0.19.2").read
    assert compare_kinds(SCHEMAS, "gke-gpudirect", "2026.6.9", "2026.7.6").read


def write(folder: Path, release: str, versions: dict[str, bool], kinds: tuple[str, ...] = ("Thing",)) -> None:
    """Write the index of a release: versions of each kind, and which is stored."""
    entries: list[dict[str, Any]] = [
        {"group": "example.com", "kind": kind, "plural": f"{kind.lower()}s", "version": name, "served": True}
        | ({"storage": True} if stored else {})
        for kind in kinds
        for name, stored in versions.items()
    ]
    (folder / "things" / release).mkdir(parents=True)
    (folder / "things" / release / "index.json").write_text(json.dumps({"kinds": entries}))


def test_kinds_and_versions_that_go(tmp_path):
    """A version that is served but not stored is told apart from one that objects may be stored in."""
    write(tmp_path, "1.0.0", {"v1alpha1": False, "v1": True}, ("Thing", "Gone"))
    write(tmp_path, "2.0.0", {"v1": True})
    found = compare_kinds(tmp_path, "things", "1.0.0", "2.0.0")
    assert found.dropped == (("example.com/Thing", "v1alpha1", False),)
    assert found.removed == ("example.com/Gone",)
    assert list(first_steps(found, set())) == []

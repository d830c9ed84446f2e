"""A field of a generated object leads to the place where people write it."""

from __future__ import annotations

from pathlib import Path

import pytest

import make
from command import call
from repo import Repo
from trainyard.base.findings import Path as Field
from trainyard.base.system import files
from trainyard.render.tree import index
from trainyard.render.tree.index import Entry
from trainyard.render.tree.origins import spec_lines

OWN = "platform/extra/test/platform/x.yaml"
OBJECTS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: first}
data: {a: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: second}
data:
  c: d
"""
POLICY = "apiVersion: v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: mine}\nspec:\n  validations: []\n"

PLACES: dict[str, tuple[Entry, Field, str]] = {
    "an object of one's own": (Entry("v1", "ConfigMap", None, "first", OWN), ("data", "a"), f"{OWN}:4:11"),
    "the second of a file": (Entry("v1", "ConfigMap", None, "second", OWN), ("data", "c"), f"{OWN}:10:6"),
    "an object that got its namespace": (Entry("v1", "ConfigMap", "nlp", "second", OWN), ("data",), f"{OWN}:10:3"),
    "a field that is not written": (
        Entry("v1", "ConfigMap", None, "second", OWN), ("metadata", "labels", "x"), f"{OWN}:8:11"
    ),
    "a policy": (
        Entry("v1", "ValidatingAdmissionPolicy", None, "mine", "platform/repository.yaml"),
        ("spec", "validations"),
        "policies/mine.yaml:5:16",
    ),
    "the binding of a policy": (
        Entry("v1", "ValidatingAdmissionPolicyBinding", None, "mine", "platform/repository.yaml"),
        ("spec", "policyName"),
        "policies/mine.yaml:1:1",
    ),
    "a policy that comes with Trainyard": (
        Entry("v1", "ValidatingAdmissionPolicy", None, "other", "platform/repository.yaml"),
        ("spec",),
        "platform/repository.yaml:1:1",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("entry", "field", "place"), PLACES.values(), ids=PLACES)
def test_what_is_rendered_as_it_is_written_leads_to_its_field(
    tmp_path: Path, entry: Entry, field: Field, place: str
) -> None:
    """In the file, the document and the line in which it stands."""
    files.write(tmp_path / "generated/test/index/platform.json", index.dump("platform", {"x.yaml": entry}))
    for name, text in ((OWN, OBJECTS), ("policies/mine.yaml", POLICY), ("platform/repository.yaml", "live: true\n")):
        files.write(tmp_path / name, text)
    assert str(spec_lines(tmp_path)("generated/test/platform/x.yaml", field)) == place


@pytest.mark.node
def test_a_check_names_the_file_that_people_edit(tmp_path: Path) -> None:
    """First the line of one's own object, and of a cluster's label, then where each is seen; in the file's words."""
    cluster = make.fields(make.CLUSTER, {"topology": [{"rack": "example.com/my rack"}]})
    root = make.write_repository(tmp_path, clusters={"test": cluster})
    files.write(root / OWN, OBJECTS.replace("c: d", "c: 1"))
    Repo(root).commit()
    done = call(root, "check")
    assert f"{OWN}:10:6: error: " in done.stdout
    assert "  seen at generated/test/platform/configmap.second.yaml:" in done.stdout
    assert 'error: topology[0].rack is "example.com/my rack"' in done.stdout
    assert "\ngenerated/test/" not in done.stdout
    line = next(line for line in done.stdout.splitlines() if "topology[0].rack" in line)
    assert line.startswith("platform/clusters/test.yaml:")
    plan = call(root, "plan").stdout
    assert f"\n{OWN}:10:6: error: " in plan

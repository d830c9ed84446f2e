"""What docs/ignoring.md shows does what the page says."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest
import yaml

from command import call
from conftest import ROOT

PAGE = (ROOT / "docs" / "ignoring.md").read_text()


@pytest.fixture
def folder(tmp_path):
    """A folder with the files of the page."""
    for name, text in re.findall(r"^```yaml\n# (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_the_comment_of_the_page_ignores_its_finding(folder):
    """The manifest passes under --strict, with one ignored finding; without the comment it fails."""
    (folder / ".trainyard.yaml").unlink()
    done = call(folder, "validate", "deploy", "--strict")
    assert (done.returncode, "1 ignored" in done.stdout) == (0, True)
    file = folder / "deploy/train.yaml"
    file.write_text(re.sub(" # trainyard.*", "", file.read_text()))
    assert call(folder, "validate", "deploy", "--strict").returncode == 1
    assert call(folder, "validate", "deploy").returncode == 0


def test_the_settings_of_the_page_count(folder):
    """They have no error, choose releases, switch a rule off by path, and hold the schema that editors use."""
    file = folder / "deploy/train.yaml"
    bare = re.sub(" # trainyard.*", "", file.read_text())
    for place in ("deploy", "examples", "vendor"):
        (folder / place).mkdir(exist_ok=True)
        (folder / place / "train.yaml").write_text(bare.replace("name: train,", f"name: {place},"))
    report = json.loads(call(folder, "validate", ".", "-o", "json").stdout)
    assert [(item["file"], item["severity"]) for item in report["findings"]] == [("deploy/train.yaml", "warning")]
    assert [item["file"] for item in report["ignored"]] == ["examples/train.yaml"]
    assert report["passed"] == {"file that .trainyard.yaml names": 1}
    assert "checked for Kubernetes 1.35, with jobset 0.12.0, kueue 0.19.2" in report["notes"]
    schema = json.loads((ROOT / "schemas" / "trainyard" / "checks.json").read_text())
    jsonschema.validate(yaml.safe_load((folder / ".trainyard.yaml").read_text()), schema)


def test_the_commands_of_the_page_run(folder):
    """The baseline is written and then ignores what it lists."""
    (folder / ".trainyard.yaml").unlink()
    file = folder / "deploy/train.yaml"
    file.write_text(re.sub(" # trainyard.*", "", file.read_text()))
    [block] = re.findall(r"^```sh cluster\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert [call(folder, *line.split()[1:]).returncode for line in block.splitlines()] == [0, 0]

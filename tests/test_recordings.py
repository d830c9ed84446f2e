"""Every recorded answer says who gave it, in which release, and how it is recorded again."""

from __future__ import annotations

import re
from collections import Counter

import pytest
import yaml

from conftest import ROOT, TESTS
from oracles import build, components, minors, older
from trainyard.specs.releases import releases as facts
from trainyard.upstream.kubelet.releases import MEASURED

TABLE = TESTS / "recordings.yaml"
ROWS = yaml.load(TABLE.read_text(encoding="utf-8"), yaml.BaseLoader)
RECORDED = ("**/*.jsonl", "**/*.jsonl.gz", "**/*.expected.json", "local/recorded/*.txt", "apiserver/cel/*.txt")
"""What recordings are called."""

LOCK = yaml.safe_load((ROOT / "schemas/lock.yaml").read_text(encoding="utf-8"))
PINNED = [chart for releases in LOCK["charts"].values() for chart in releases.values()]
LIBRARY = "library"
WORDS = re.compile(r"(?:tests|tools)/[\w./-]+")


def matched(row):
    """Return the files of a row."""
    return [path for glob in row["files"] for path in ROOT.glob(glob)]


def name(row):
    """Return what a row is called."""
    return row["files"][0]


def test_every_recording_has_one_row():
    """No recording is without a row, and none has two."""
    rows = Counter(path for row in ROWS for path in matched(row))
    found = {path for glob in RECORDED for path in TESTS.glob(glob)}
    assert len(found) > 400
    assert not sorted(found - set(rows))
    assert not [path for path, count in rows.items() if count > 1]


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_every_row_has_files_and_an_oracle(row):
    """Each pattern of a row finds files, and what answered can be built, or is a library."""
    assert all(list(ROOT.glob(glob)) for glob in row["files"])
    assert row["oracle"] == LIBRARY or row["oracle"] in build.ORACLES
    assert row["releases"]
    assert ("record" in row) != ("asked" in row)


@pytest.mark.parametrize("row", [row for row in ROWS if "record" in row], ids=name)
def test_every_command_names_what_exists(row):
    """A command names files and folders that exist; a test that is to record has --update, and names what it writes."""
    words = WORDS.findall(row["record"])
    assert words
    assert all((ROOT / word).exists() for word in words), words
    if "--update" in row["record"]:
        text = (ROOT / words[0]).read_text(encoding="utf-8")
        assert "--update" in text or "golden" in text, words[0]


def releases():
    """Return the releases that the oracles are built from, by project, and those of charts that Helm's renders."""
    found = {project: {operator.version} for project, operator in components.OPERATORS.items()}
    assert found["kueue"] == {build.release("kueue")}
    found["kueue"] |= set(older.releases())
    pinned: dict[str, set[str]] = {}
    for chart in PINNED:
        pinned.setdefault(chart["project"], set()).add(chart["version"].removeprefix("v"))
    others = {"helm": {build.release("helm")}, "prometheus": {build.release("promtool")}}
    own = {"kubernetes": set(components.KUBERNETES), "argo-cd": set(components.ARGOCDS)}
    return {**pinned, **found, **own, **others}


@pytest.mark.parametrize("row", [row for row in ROWS if row["oracle"] != LIBRARY], ids=name)
def test_releases_are_those_that_are_built(row):
    """Whoever asks again, asks the release that answered; without a command it is one whose webhooks were compared."""
    for project, said in row["releases"].items():
        hooked = set(facts()[project].hooks) if "record" not in row and project in facts() else set()
        assert set(said if isinstance(said, list) else [said]) <= releases()[project] | hooked, project
    if row["oracle"] == "kubelet":
        said = row["releases"]["kubernetes"]
        assert set(said if isinstance(said, list) else [said]) <= {build.release("kubelet"), *minors.releases()}


def test_the_kubelets_that_decide_are_those_that_can_be_built():
    """Each minor is measured by the program of its release."""
    assert set(MEASURED.values()) == {build.release("kubelet"), *minors.releases()}

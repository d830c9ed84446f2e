"""The command that lists known releases."""

from __future__ import annotations

import json
from typing import get_args

from command import call
from conftest import ROOT
from trainyard.render.operators.listing import project
from trainyard.specs.changes import OfServers, changes_between
from trainyard.specs.releases import releases
from trainyard.upstream.apiserver.catalog.releases import Shelf


def test_all_that_a_cluster_may_name_is_listed():
    """Every operator with all its releases, the newest first, and what can be done with it."""
    done = call(ROOT, "releases")
    assert done.returncode == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert set(releases()) <= set(lines)
    kueue = "0.19.2 on Kubernetes from 1.29; 0.18.6 on Kubernetes from 1.29 (can be installed)"
    assert lines["kueue"].split(maxsplit=1)[1] == kueue
    assert lines["node-feature-discovery"].endswith("(can be installed)")
    assert lines["kyverno"].endswith("(only checked)")


def test_what_others_install_is_told_apart():
    """A project that Trainyard has no chart for can be named as somebody else's."""
    facts = releases()["node-feature-discovery"].model_copy(update={"chart": None, "installable": False})
    assert project("own-operator", facts, Shelf(ROOT / "schemas"))["use"] == "with managed: false"


def test_one_operator_for_a_program():
    """As JSON, with the chart and the Kubernetes that each release is said to work on."""
    (found,) = json.loads(call(ROOT, "releases", "gpu-operator", "-o", "json").stdout)
    facts = releases()["gpu-operator"]
    assert [release["version"] for release in found["releases"]] == ["26.7.0", "26.3.3"]
    assert {release["version"] for release in found["releases"]} == set(facts.releases)
    assert found["releases"][0]["kubernetes"] == {"oldest": "1.32", "newest": "1.36"}
    assert found["chart"]["name"] == "gpu-operator"
    assert found["use"] == "can be installed"


def test_a_name_that_nobody_has_is_told_with_the_near_miss():
    """And so is a format."""
    done = call(ROOT, "releases", "keueu")
    assert (done.returncode, "did you mean 'kueue'?" in done.stderr) == (2, True)
    assert call(ROOT, "releases", "-o", "yaml").returncode == 2


def test_what_a_release_of_kubernetes_changes():
    """Each change names the kind, the field and its gate; of another project nothing is said that is not known."""
    said = call(ROOT, "releases", "kubernetes").stdout
    assert "changes in 1.37:" in said
    assert "ignored   Job spec.scheduling: the gate is alpha and off" in said
    assert "changes in" not in call(ROOT, "releases", "appwrapper").stdout
    (found,) = json.loads(call(ROOT, "releases", "kubernetes", "-o", "json").stdout)
    newest, *older = found["releases"]
    assert {change["word"] for change in newest["changes"]} == set(get_args(OfServers))
    assert all(" v1.37." in change["source"] for change in newest["changes"])
    before = [change["source"] for release in older for change in release.get("changes", ())]
    assert all(" v1.36." in source for source in before)


def test_changes_since_the_release_before():
    """Of releases that are left out between two known ones, the newer one has the changes too."""
    (found,) = json.loads(call(ROOT, "releases", "kueue", "-o", "json").stdout)
    changes = found["releases"][0]["changes"]
    assert {"waitForPodsReady", "spec.leaderWorkerTemplate.size"} <= {change["field"] for change in changes}
    assert [change.says for change in changes_between("kueue", "0.19.0", "0.19.1")] == [
        change["says"] for change in changes if change["source"].endswith(("#13809", "#13737"))
    ]
    assert changes_between("kueue", None, "0.19.2") == changes_between("kueue", "0.18.6", "0.19.2")
    assert changes_between("kubernetes", "1.36", "1.37") == changes_between("kubernetes", None, "1.37.2") != ()
    assert changes_between("nobody", "1.0", "2.0") == ()

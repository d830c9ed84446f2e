"""A release is a known one, or is said to be like one: what is installed is what is written."""

from __future__ import annotations

import pytest

from conftest import ROOT
from make import CLUSTER, make_cluster, write_repository
from trainyard.base.findings import Severity
from trainyard.base.versions import line, minor, same
from trainyard.judge import preflight
from trainyard.judge.checks.checking import Checking
from trainyard.judge.checks.result import Result
from trainyard.render.operators import operators
from trainyard.render.operators.install import sites
from trainyard.upstream.apiserver.catalog.releases import Shelf

KUEUES = {
    "beyond all in the first number": "1.0.0",
    "far beyond all": "2.1",
    "before all": "0.9.0",
    "between two lines": "0.18.9",
    "a line to come": "0.21.0",
    "a candidate of a known release": "0.19.2-rc.1",
}


def kueue(version: str) -> dict[str, object]:
    """Return a cluster's file with another Kueue."""
    return {**CLUSTER, "operators": {**CLUSTER["operators"], "kueue": {"version": version}}}


@pytest.mark.parametrize("version", KUEUES.values(), ids=KUEUES)
def test_an_operator_that_is_not_known_is_refused_with_those_that_are(tmp_path, version):
    """One error, at the line of the cluster's file, whichever release the rest is told of."""
    write_repository(tmp_path, clusters={"test": kueue(version)})
    checked, result = preflight.check_repository(tmp_path, home=ROOT), Result()
    cluster = checked.specs.clusters["test"]
    known = Checking(tmp_path, checked.specs, ROOT).catalog("test", cluster, result)
    (site, *_) = sites(cluster)
    assert known.projects["kueue"] == site.known_version
    assert result.findings == []
    if version == "0.9.0":
        assert [finding.rule for finding in checked.findings] == ["pairing/too-old"]
        return
    (found,) = checked.findings
    message = f"kueue {version} is unknown; known releases: 0.19.2, 0.18.6"
    assert (found.severity, found.message, found.path) == (Severity.ERROR, message, "operators.kueue.version")
    assert "unlisted: {like: " in (found.fix or "")


@pytest.mark.parametrize("version", KUEUES.values(), ids=KUEUES)
def test_what_is_installed_is_what_is_written(version):
    """A release that is not known, and is said to be like another, is installed as it is and judged as the other."""
    choice = {"version": f"v{version}", "unlisted": {"like": "0.18.6", "reason": "read"}}
    (site, *_) = sites(make_cluster(operators={"kueue": choice}))
    assert (site.version, site.known_version) == (version, "0.18.6")


def test_a_known_release_is_installed_as_it_is_published():
    """However it is spelt: `1.9` would be a range to Helm."""
    (site, *_) = sites(make_cluster(operators={"jobset": {"version": "v0.12"}}))
    assert (site.version, site.known_version) == ("0.12.0", "0.12.0")


def test_the_image_of_multus_is_that_of_the_release():
    """Of one that is not known too, unless the cluster's file names another."""
    choice = {"version": "4.2.2", "unlisted": {"like": "4.3.0", "reason": "read"}}

    def images(**more):
        own = {**choice, "unlisted": {**choice["unlisted"], **more}}
        (site, *_) = sites(make_cluster(operators={"multus": own}))
        (daemons,) = [item for item in operators()["multus"].own(site) if item.kind == "DaemonSet"]
        pod = daemons.fields["spec"]["template"]["spec"]
        return {init_container["image"] for init_container in (*pod["initContainers"], *pod["containers"])}

    assert images() == {"ghcr.io/k8snetworkplumbingwg/multus-cni:v4.2.2-thick"}
    assert images(components={"daemon": {"image": "registry.example.com/multus@sha256:0"}}) == {
        "registry.example.com/multus@sha256:0"
    }


def test_a_release_that_only_a_repository_has_is_judged_by_its_types(tmp_path):
    """A repository's own API types count before what is known of the operator."""
    folder = tmp_path / "schemas" / "kueue"
    folder.mkdir(parents=True)
    (folder / "0.21.0").mkdir()
    shelf = Shelf(tmp_path / "schemas")
    assert shelf.carries("kueue", "v0.21.0")
    assert not shelf.carries("kueue", "0.21.1")


SAME = {
    "itself": ("0.19.2", "0.19.2", True),
    "with a v": ("v0.19.2", "0.19.2", True),
    "written shorter": ("1.9", "1.9.0", True),
    "built again": ("1.9.0+k3s1", "1.9.0", True),
    "a candidate": ("1.9.0-rc.1", "1.9.0", False),
    "another patch": ("1.9.1", "1.9.0", False),
}


@pytest.mark.parametrize(("one", "other", "expected"), SAME.values(), ids=SAME)
def test_spellings_of_one_release(one, other, expected):
    """How a release is written does not make it another; a suffix after a dash does."""
    assert same(one, other) is expected
    assert same(other, one) is expected


@pytest.mark.parametrize("release_", ["1.35", "v1.35", "1.35.4", "v1.35.4-gke.1", "1.35.0-rc.1", "1.35.4+k3s1"])
def test_the_line_of_a_release(release_):
    """Patches and suffixes do not count for the minor release of Kubernetes."""
    assert (line(release_), minor(release_)) == ("1.35", 35)

"""A release that is not known is the nearest known one, the same for what is rendered and for what is judged."""

from __future__ import annotations

import pytest

from conftest import ROOT
from make import CLUSTER, make_cluster, write_repository
from trainyard import preflight
from trainyard.apiserver.catalog.releases import Shelf, choose
from trainyard.checks.repository import Checking
from trainyard.checks.result import Result
from trainyard.findings import Location, Severity
from trainyard.operators.install import sites
from trainyard.releases import release, releases
from trainyard.system.data import own
from trainyard.versions import line, minor, same

SCHEMAS = own("schemas")
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
def test_an_operator_is_rendered_and_judged_as_one_release(version):
    """Facts of operators and API types choose alike, since both are asked for the nearest in one way."""
    (site, *_) = sites(make_cluster(operators={"kueue": {"version": version}}))
    found, _ = choose(Shelf(SCHEMAS), "kueue", version, lambda _: Location("x"))
    assert found is not None
    assert site.known == found.release


@pytest.mark.parametrize(("version", "used"), [("1.0.0", "0.19.2"), ("2.1", "0.19.2"), ("0.18.9", "0.18.6")])
def test_one_finding_says_which_release_is_used(tmp_path, version, used):
    """What synth and validate make of a release that is not known is said once at its place, and is one."""
    write_repository(tmp_path, clusters={"test": kueue(version)})
    checked, result = preflight.check_repository(tmp_path, home=ROOT), Result()
    cluster = checked.specs.clusters["test"]
    known = Checking(tmp_path, checked.specs, ROOT).catalog("test", cluster, result)
    (site, *_) = sites(cluster)
    assert (site.known, known.projects["kueue"]) == (used, used)
    said = [each for each in (*checked.findings, *result.findings) if each.rule == "pairing/near-release"]
    message = f"kueue {version} is not known here; the nearest known release {used} is used instead"
    assert [(each.severity, each.message, each.path) for each in said] == [
        (Severity.WARNING, message, "operators.kueue.version")
    ]


def test_a_release_that_only_a_repository_has_is_judged_by_its_types(tmp_path):
    """A repository's own API types count before what is known of the operator."""
    folder = tmp_path / "schemas" / "kueue"
    folder.mkdir(parents=True)
    (folder / "0.21.0").mkdir()
    shelf = Shelf(tmp_path / "schemas")
    assert shelf.carries("kueue", "v0.21.0")
    assert not shelf.carries("kueue", "0.21.1")


@pytest.mark.parametrize("name", sorted(set(releases()) & set(Shelf(SCHEMAS).projects())))
def test_facts_and_types_know_the_same_releases(name):
    """A release is known in both places or in neither; of Argo CD's oldest only the documents were read."""
    facts = release(name)
    assert facts is not None
    unread = {"3.2.6"} if name == "argo-cd" else set()
    assert set(facts.releases) - unread == set(Shelf(SCHEMAS).releases(name))


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

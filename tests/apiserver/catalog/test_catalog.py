"""The catalog: which schema serves a kind under the releases that a cluster runs."""

from __future__ import annotations

import pytest

from make import make_crd
from trainyard.base.findings import Location, Severity
from trainyard.base.versions import nearest
from trainyard.judge.checks.versions import parse_projects
from trainyard.upstream.apiserver import Kind, Missing, catalog


@pytest.fixture(scope="module")
def schemas(root):
    """The repository's API types."""
    return root / "schemas"


@pytest.fixture(scope="module")
def known(schemas):
    """Kubernetes 1.35 with Kueue and JobSet."""
    found, findings = catalog.load(schemas, kubernetes="1.35", projects={"kueue": "0.19.2", "jobset": "v0.12.0"})
    assert findings == []
    return found


SERVED = {
    "a core kind": (("", "v1", "Pod"), "kubernetes", "1.35", "pods", "Namespaced"),
    "a kind of a core group": (("batch", "v1", "Job"), "kubernetes", "1.35", "jobs", "Namespaced"),
    "a cluster-scoped core kind": (("", "v1", "Node"), "kubernetes", "1.35", "nodes", "Cluster"),
    "an irregular plural": (("", "v1", "Endpoints"), "kubernetes", "1.35", "endpoints", "Namespaced"),
    "an operator's kind": (
        ("kueue.x-k8s.io", "v1beta2", "ClusterQueue"),
        "kueue",
        "0.19.2",
        "clusterqueues",
        "Cluster",
    ),
    "a release with a leading v": (
        ("jobset.x-k8s.io", "v1alpha2", "JobSet"),
        "jobset",
        "0.12.0",
        "jobsets",
        "Namespaced",
    ),
}


@pytest.mark.parametrize(("gvk", "project", "release", "plural", "scope"), SERVED.values(), ids=SERVED)
def test_served_kinds(known, gvk, project, release, plural, scope):
    """A served kind is found with its scope, its resource name and where it comes from, by kind or by resource."""
    kind = known.lookup(*gvk)
    assert isinstance(kind, Kind)
    assert (kind.project, kind.release, kind.plural, kind.scope) == (project, release, plural, scope)
    assert known.resource(gvk[0], gvk[1], plural) is kind
    assert kind.schema["type"] == "object"


MISSES = {
    "a mistyped kind": (("batch", "v1", "Jbo"), "did you mean 'Job'?"),
    "another case": (("", "v1", "pod"), "did you mean 'Pod'?"),
    "a version that never was": (("kueue.x-k8s.io", "v1beta3", "ClusterQueue"), "served: v1beta1, v1beta2"),
    "a version that Kubernetes dropped": (("batch", "v1beta1", "CronJob"), "served: v1"),
    "a group that Kubernetes dropped": (("extensions", "v1beta1", "Ingress"), "did you mean networking.k8s.io/v1?"),
    "a group left out": (("", "v1", "Job"), "did you mean batch/v1?"),
    "an operator that is not installed": (("ray.io", "v1", "RayJob"), "is served by kuberay, which is not among"),
    "a mistyped kind of such an operator": (("ray.io", "v1", "RayJb"), "did you mean 'RayJob'?"),
    "a kind that nobody knows": (("example.com", "v1", "Widget"), "add its CRD to the inputs"),
}


@pytest.mark.parametrize(("gvk", "hint"), MISSES.values(), ids=MISSES)
def test_missing_kinds_say_what_was_meant(known, gvk, hint):
    """A kind that is not served is missing, and the message says what may have been meant, in at most 20 words."""
    missing = known.lookup(*gvk)
    assert isinstance(missing, Missing)
    assert hint in missing.message
    assert len(missing.message.split()) <= 20


def test_versions_no_longer_served(schemas):
    """A version that a CRD still lists but no longer serves is missing, and the served one is named."""
    known, _ = catalog.load(schemas, projects={"external-snapshotter": "8.6.0"})
    missing = known.lookup("snapshot.storage.k8s.io", "v1beta1", "VolumeSnapshot")
    assert isinstance(missing, Missing)
    assert "'v1beta1' is no longer served; served: v1" in missing.message


def test_everything_newest_by_default(schemas):
    """Without choices it is the newest Kubernetes and the newest release of each project, without a finding."""
    known, findings = catalog.load(schemas)
    assert findings == []
    assert known.kubernetes == "1.37"
    assert known.projects["kueue"] == "0.19.2"
    assert len(known.projects) >= 30
    assert known.lookup("kubeflow.org", "v2beta1", "MPIJob").project == "mpi-operator"
    assert known.lookup("kubeflow.org", "v1", "MPIJob").project == "training-operator"
    assert (
        known.lookup("k8s.cni.cncf.io", "v1", "NetworkAttachmentDefinition").project == "network-attachment-definition"
    )


NEAR = {
    "a newer patch": ("0.19.9", "0.19.2"),
    "an older patch": ("0.18.1", "0.18.6"),
    "a later minor": ("0.21.0", "0.19.2"),
    "an earlier minor": ("0.9.0", "0.18.6"),
    "a release that is known": ("0.18.6", "0.18.6"),
}


@pytest.mark.parametrize(("asked", "found"), NEAR.values(), ids=NEAR)
def test_nearest_release(asked, found):
    """The nearest release is the one with the least distance, the first number weighing most."""
    assert nearest(asked, ["0.18.6", "0.19.2"]) == found


def test_near_releases_are_named(schemas):
    """A release that is not carried is told at the place where it was chosen: of an operator it is an error."""
    known, findings = catalog.load(
        schemas, kubernetes="v1.38.1", projects={"kueue": "0.19.3"}, where=lambda name: Location(f"{name}.yaml")
    )
    assert (known.kubernetes, known.projects) == ("1.37", {"kueue": "0.19.2"})
    assert [(finding.severity, finding.location.file, finding.message) for finding in findings] == [
        (
            Severity.WARNING,
            "kubernetes.yaml",
            "kubernetes 1.38.1 is unknown; the nearest known release 1.37 is used instead",
        ),
        (Severity.ERROR, "kueue.yaml", "kueue 0.19.3 is unknown; known releases: 0.19.2, 0.18.6"),
    ]


@pytest.mark.parametrize("kubernetes", ["1.35", "v1.35", "1.35.4", "v1.35.0"])
def test_patches_of_kubernetes_are_its_minor(schemas, kubernetes):
    """A patch release of Kubernetes serves what its minor serves, without a word."""
    known, findings = catalog.load(schemas, kubernetes=kubernetes, projects={})
    assert (known.kubernetes, findings) == ("1.35", [])


def test_unknown_operators_are_errors(schemas):
    """An operator of which nothing is known is an error with the near miss."""
    _, (finding,) = catalog.load(schemas, projects={"kueu": "0.19.2"})
    assert finding.is_error
    assert finding.message == "the API types of operator 'kueu' are unknown; did you mean 'kueue'?"


PAIRS = {
    "other versions of one kind": (
        {"mpi-operator": "0.8.0", "training-operator": "1.9.4"},
        [(Severity.ERROR, "both serve MPIJob, as v2beta1 and v1")],
    ),
    "one version with other schemas": (
        {"network-operator": "26.4.1", "sriov-network-operator": "1.6.0"},
        [(Severity.ERROR, "both serve SriovNetwork and 4 more, with different schemas")],
    ),
    "one more version of one schema": (
        {"node-feature-discovery": "0.19.0", "scheduler-plugins": "0.34.7"},
        [(Severity.WARNING, "both serve NodeResourceTopology, as v1alpha1/v1alpha2 and v1alpha2")],
    ),
    "the same schema": (
        {"multus": "4.3.0", "network-attachment-definition": "1.7.7", "sriov-network-operator": "1.6.0"},
        [],
    ),
    "nothing in common": ({"kueue": "0.19.2", "jobset": "0.12.0", "kuberay": "1.7.0"}, []),
}


@pytest.mark.parametrize(("projects", "expected"), PAIRS.values(), ids=PAIRS)
def test_kinds_served_twice(schemas, projects, expected):
    """Two installed operators that serve one kind differently do not go together."""
    _, findings = catalog.load(schemas, projects=projects)
    found = [(finding.severity, finding.message.partition(" both ")[2]) for finding in findings]
    assert found == [(severity, message.removeprefix("both ")) for severity, message in expected]
    assert all(finding.layer == "pairing" and finding.rule == "pairing/served-twice" for finding in findings)


TWICE = {
    "versions that one of them serves": (
        "kubeflow.org",
        "MPIJob",
        {"v1": "training-operator", "v2beta1": "mpi-operator"},
    ),
    "the snapshots that a driver bundles": (
        "snapshot.storage.k8s.io",
        "VolumeSnapshot",
        {"v1": "external-snapshotter"},
    ),
    "the newer of two copies": ("sriovnetwork.openshift.io", "SriovNetwork", {"v1": "network-operator"}),
}


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("group", "kind", "expected"), TWICE.values(), ids=TWICE)
def test_each_version_of_a_kind_served_twice_is_known(schemas, group, kind, expected, backwards):
    """Whoever is named first: an object is judged by the project that knows its version, or whose group it is."""
    names = ["csi-driver-nfs", "external-snapshotter", "mpi-operator", "network-operator", "sriov-network-operator"]
    names = [*names, "training-operator"][:: -1 if backwards else 1]
    known, _ = catalog.load(schemas, kubernetes="1.35", projects=dict.fromkeys(names))
    assert {
        version: found.project for version, found in known.kinds[group, kind].items() if version in expected
    } == expected


def test_crds_among_the_inputs_count(known):
    """A CRD among the inputs defines its kind, and wins over an installed operator's."""
    crd = make_crd({"size": {"type": "integer"}})
    assert isinstance(known.lookup("example.com", "v1", "Probe"), Missing)
    more = known.with_crds([{"kind": "Pod"}, None, crd])
    kind = more.lookup("example.com", "v1", "Probe")
    assert isinstance(kind, Kind)
    assert kind.schema["properties"]["spec"]["properties"]["size"] == {"type": "integer"}
    assert more.resource("example.com", "v1", "probes") is kind
    crd["spec"]["group"] = "kueue.x-k8s.io"
    crd["spec"]["names"]["kind"] = "ClusterQueue"
    assert isinstance(known.with_crds([crd]).lookup("kueue.x-k8s.io", "v1beta2", "ClusterQueue"), Missing)


def test_no_crd_replaces_a_kind_of_kubernetes(known):
    """A server accepts a CRD by the name of one of its own kinds, and goes on serving its own."""
    crd = make_crd()
    crd["spec"]["group"], crd["spec"]["names"]["kind"] = "batch", "Job"
    assert known.with_crds([crd]).lookup("batch", "v1", "Job") is known.lookup("batch", "v1", "Job")


NAMES = {"kind": "A", "plural": "as"}
BROKEN = {
    "no spec": {"spec": None},
    "a list as names": {"spec": {"group": "example.com", "names": []}},
    "versions as text": {"spec": {"group": "example.com", "names": NAMES, "versions": "v1"}},
    "a version without a name": {"spec": {"group": "example.com", "names": NAMES, "versions": [{}]}},
}


@pytest.mark.parametrize("fields", BROKEN.values(), ids=BROKEN)
def test_broken_crds_define_nothing(known, fields):
    """A malformed CRD defines nothing; that it is malformed is a finding of the CRD itself."""
    crd = {**make_crd(), **fields}
    assert len(list(known.with_crds([crd]).served())) == len(list(known.served()))


def test_deprecated_versions_carry_the_servers_warning(known):
    """A deprecated version has the CRD's warning, or the server's own."""
    warnings = {
        "example.com/v1 Probe is deprecated": {"deprecated": True},
        "use v2": {"deprecated": True, "deprecationWarning": "use v2"},
        None: {"deprecationWarning": "not deprecated at all"},
    }
    for expected, version in warnings.items():
        kind = known.with_crds([make_crd(**version)]).lookup("example.com", "v1", "Probe")
        assert kind.deprecated == expected


RELEASES = {
    "a number": ("kueue=0.19.2", {"kueue": "0.19.2"}),
    "a tag": ("kueue=v0.19.2", {"kueue": "v0.19.2"}),
    "a tag of one of several programs": ("wandb-operator=operator-1.4.8", {"wandb-operator": "1.4.8"}),
    "a candidate": ("a=controller-v1.2.0-rc.1", {"a": "v1.2.0-rc.1"}),
}


@pytest.mark.parametrize(("given", "expected"), RELEASES.values(), ids=RELEASES)
def test_releases_are_read_as_projects_tag_them(given, expected):
    """The names of tags count as the releases that they stand for."""
    assert parse_projects([given]) == expected

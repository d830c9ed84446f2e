"""Applications are synced as their class needs it, and projects allow what is there and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from everything import everything, everything_specs
from make import CLUSTER, make_cluster, make_repository, make_source, make_specs, write_repository
from trainyard.base.documents import dump
from trainyard.base.labels import IGNORE_HEALTH
from trainyard.change.synth.render.processes import Rendering
from trainyard.render.clusters import folders
from trainyard.render.clusters.settings import carries, data
from trainyard.render.kinds import available, kinds
from trainyard.render.operators import operators
from trainyard.render.parts.health_of_kinds import known_health
from trainyard.render.parts.objects import Resource
from trainyard.specs.load import read_repository
from trainyard.specs.sources import ExtraFile

OF_RUNS = {
    "automated": {"enabled": True, "prune": True},
    "syncOptions": [
        "ApplyOutOfSyncOnly=true",
        "SkipDryRunOnMissingResource=true",
        "FailOnSharedResource=true",
        "RespectIgnoreDifferences=true",
    ],
    "retry": {"limit": -1, "refresh": True, "backoff": {"duration": "10s", "factor": 2, "maxDuration": "3m"}},
}
"""What was measured to hold on Argo CD 3.2 for every training kind in one Application, and on a new cluster."""

SKIP = "SkipDryRunOnMissingResource=true"

CLUSTER_SCOPED = frozenset(
    {
        "APIService",
        "ClusterPolicy",
        "ClusterQueue",
        "ClusterRole",
        "ClusterRoleBinding",
        "Cohort",
        "CustomResourceDefinition",
        "Namespace",
        "ResourceFlavor",
        "StorageClass",
        "Topology",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "WorkloadPriorityClass",
    }
)


def of(kind: str, **changes: Any) -> dict[str, Resource]:
    """Return the Applications or projects of the cluster that has everything, by name."""
    return {item.name: item for item in folders(everything_specs(**changes), "test")["argocd"] if item.kind == kind}


def spec(name: str, kind: str = "Application", **changes: Any) -> dict[str, Any]:
    """Return the spec of one of them."""
    value: dict[str, Any] = of(kind, **changes)[f"test-{name}"].fields["spec"]
    return value


def test_names_are_the_cluster_the_class_and_the_team_or_operator():
    """They are unique among all clusters of one Argo CD, and of a length that labels take."""
    pattern = re.compile(r"test-(argocd|settings|hardware|platform|(operators|teams|runs)-[a-z0-9-]+)")
    assert all(pattern.fullmatch(name) and len(name) <= 63 for name in of("Application"))


def test_every_application_has_a_folder_that_exists_and_a_project():
    """A path that does not exist is an error for ever, and so is a project."""
    there, projects = folders(everything_specs(), "test"), of("AppProject")
    for name, application in of("Application").items():
        source = application.fields["spec"]["source"]
        path = source.get("path", "").removeprefix("generated/test/")
        assert source["repoURL"] != make_repository().repo_url or path in there, name
        assert application.fields["spec"]["project"] in projects
    synced = {item.fields["spec"]["source"].get("path", "") for item in of("Application").values()}
    not_synced = {path for path in there if f"generated/test/{path}" not in synced}
    assert not_synced == set()


def test_runs_are_synced_exactly_as_measured():
    """One wave, pruned, never healed, objects in sync left alone, fields of controllers ignored."""
    found = spec("runs-nlp")
    assert found["syncPolicy"] == OF_RUNS
    assert found["source"]["directory"] == {"recurse": True, "include": "*.yaml"}
    assert found["destination"] == {"name": "test", "server": None, "namespace": "nlp"}
    kinds = [rule["kind"] for rule in found["ignoreDifferences"]]
    assert kinds == [kind.name for kind in available(everything()) if kind.ignore]
    assert {"Job", "JobSet"} <= set(kinds)


def test_the_root_is_as_healthy_as_the_platform():
    """A job that queues or fails is shown at its team, and leaves the health of the root alone."""
    kept = {name for name, item in of("Application").items() if IGNORE_HEALTH in item.annotations}
    assert kept == {name for name in of("Application") if name.startswith("test-runs-")}
    assert "resource.customizations.health.argoproj.io_Application" in data()


def test_nothing_that_follows_git_ever_gives_up():
    """After its last attempt Argo CD tries a revision never again; what is synced by hand ends, as nobody looks on."""
    for name, value in of("Application").items():
        policy = value.fields["spec"]["syncPolicy"]
        assert policy["retry"]["refresh"], name
        assert (policy["retry"]["limit"] < 0) is (policy["automated"] is not None), name


def test_a_team_comes_whole_or_not_at_all():
    """Without the types of Kueue and Multus there is no namespace, so that no Job starts past its queue."""
    skips = {
        name for name, value in of("Application").items() if SKIP in value.fields["spec"]["syncPolicy"]["syncOptions"]
    }
    assert {"test-platform", "test-runs-nlp", "test-operators-kueue"} <= skips
    assert not {name for name in skips if name.startswith("test-teams-")}


def test_no_ignore_rule_looks_into_a_list():
    """Argo CD would apply the whole live list, and every edit in it would be lost in silence."""
    for kind in kinds().values():
        for rule in kind.ignore:
            paths = [*rule.get("jqPathExpressions", ()), *rule.get("jsonPointers", ())]
            assert not [path for path in paths if re.search("replicatedJobs|workerGroupSpecs|tasks", path)]


def test_nothing_of_argocds_own_says_what_it_would_drop():
    """Argo CD writes its objects back without empty fields, and then takes them for out of sync."""
    for kind in ("Application", "AppProject"):
        for item in of(kind).values():
            assert not list(empty(item.fields["spec"], ())), item.name


def empty(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield every field that is false, zero or empty; values of charts are text to Argo CD, groups are always kept."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in {"valuesObject", "group"} and item is not None:
                yield from empty(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            yield from empty(item, path)
    elif not value:
        yield path


def test_ignore_rules_of_the_core_group_name_no_group():
    """An empty group would be dropped."""
    for item in of("Application").values():
        assert all(rule.get("group") != "" for rule in item.fields["spec"]["ignoreDifferences"] or [])


def test_no_application_cascades():
    """Removing an Application from Git removes nothing but itself."""
    text = dump([dict(item.annotations) for item in of("Application").values()])
    assert "finalizer" not in text
    assert all("metadata" not in item.fields for item in of("Application").values())


def test_a_chart_is_pinned_and_what_it_no_longer_has_stays():
    """Definitions are never pruned; values stand inline, where a reviewer sees them."""
    found = spec("operators-gpu-operator-chart")
    assert found["syncPolicy"]["automated"] == {"enabled": True, "selfHeal": True}
    assert found["source"]["targetRevision"] == "v26.7.0"
    assert found["source"]["helm"]["valuesObject"]["clusterPolicy"] == {"deployCR": False}
    assert "ServerSideApply=true" in found["syncPolicy"]["syncOptions"]


def test_charts_of_oci_registries_are_named_without_a_scheme():
    """Argo CD takes a repository without a scheme for an OCI registry (argo-cd v3.2.6 util/helm/client.go)."""
    found = spec("operators-kueue-chart")["source"]
    assert (found["repoURL"], found["chart"]) == ("registry.k8s.io/kueue/charts", "kueue")


def test_hardware_is_synced_by_hand_and_not_in_working_hours():
    """It drains nodes; the window stops a sync by hand too."""
    assert spec("hardware")["syncPolicy"]["automated"] is None
    (window,) = spec("hardware", kind="AppProject")["syncWindows"]
    assert (window["kind"], window["schedule"], window["duration"]) == ("deny", "0 6 * * 1-5", "14h")
    assert "manualSync" not in window


def test_a_cluster_says_its_own_windows():
    """They take the place of the default."""
    windows = [{"schedule": "0 0 * * *", "duration": "23h", "timeZone": "Europe/Berlin"}]
    argocd = {"version": "3.5.1", "destination": {"name": "test"}, "hardwareDeny": windows}
    found = spec("hardware", kind="AppProject", argocd=argocd)["syncWindows"]
    assert [(item["schedule"], item["timeZone"]) for item in found] == [("0 0 * * *", "Europe/Berlin")]


def test_the_settings_are_applied_without_taking_anybody_elses_keys():
    """By default Argo CD takes over what kubectl applied, and then removes every key that is not ours."""
    options = spec("settings")["syncPolicy"]["syncOptions"]
    assert options == ["ServerSideApply=true", "ClientSideApplyMigration=false"]
    assert "prune" not in spec("settings")["syncPolicy"]["automated"]


def allows(project: dict[str, Any], resource: Resource, namespace: str | None) -> bool:
    """Whether a project lets an object be created, by its kind, scope and namespace."""
    kind = {"group": resource.api_version.rpartition("/")[0], "kind": resource.kind}
    if namespace is None:
        return kind in project.get("clusterResourceWhitelist", [])
    if {"group": "*", "kind": "*"} in project.get("namespaceResourceBlacklist", []):
        return False
    listed = project.get("namespaceResourceWhitelist")
    there = namespace in [destination["namespace"] for destination in project["destinations"]]
    return there and (listed is None or kind in listed)


@pytest.mark.parametrize("team", ["nlp", "vision"])
def test_projects_allow_what_is_in_their_folders(team):
    """Every object that is rendered can be created by the Application that syncs it."""
    there, projects = folders(everything_specs(), "test"), of("AppProject")
    for application in of("Application").values():
        found = application.fields["spec"]
        path = found["source"].get("path", "").removeprefix("generated/test/")
        for item in there.get(path, []):
            namespace = None if item.kind in CLUSTER_SCOPED else item.namespace or found["destination"]["namespace"]
            project = projects[found["project"]].fields["spec"]
            assert allows(project, item, namespace), (application.name, item.kind, namespace)
    runs = spec(f"runs-{team}", kind="AppProject")
    for kind in kinds().values():
        job = Resource(kind.api_version, kind.object_kind, "train", (), team)
        assert allows(runs, job, team) == (kind in available(everything()))


def test_runs_cannot_leave_their_namespace_nor_touch_queues():
    """A manifest in one team's folder lands nowhere else, whatever it says."""
    runs = spec("runs-nlp", kind="AppProject")
    job = Resource("batch/v1", "Job", "train", ())
    assert not allows(runs, job, "vision")
    for kind in ("LocalQueue", "NetworkPolicy", "RoleBinding", "ResourceQuota", "NetworkAttachmentDefinition"):
        groups = ("kueue.x-k8s.io/v1beta2", "networking.k8s.io/v1", "rbac.authorization.k8s.io/v1", "v1")
        assert not any(allows(runs, Resource(group, kind, "x", ()), "nlp") for group in groups)
    assert not allows(runs, Resource("v1", "Namespace", "x", ()), None)


def test_no_project_has_a_wildcard():
    """Sources, destinations and cluster-scoped kinds are spelled out."""
    for name, project in of("AppProject").items():
        found = project.fields["spec"]
        assert "*" not in found["sourceRepos"], name
        assert all("*" not in destination["namespace"] for destination in found["destinations"]), name
        assert all("*" not in item.values() for item in found.get("clusterResourceWhitelist", [])), name


def test_people_see_their_runs_and_change_nothing():
    """Suspending by the button would be undone by Kueue; starting and stopping goes through Git."""
    (role,) = spec("runs-nlp", kind="AppProject")["roles"]
    assert role["groups"] == ["nlp-people"]
    allowed = r"p, proj:test-runs-nlp:team, \w+, get, test-runs-nlp/\*, allow"
    assert all(re.fullmatch(allowed, policy) for policy in role["policies"])


def test_objects_of_ones_own_are_allowed_where_they_are():
    """A kind that the repository adds to a folder is a kind that its project allows."""
    value = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "pods", "namespace": "nlp"}}
    file = ExtraFile("test", "teams/nlp", make_source("platform/extra/test/teams/nlp/quota.yaml", value))
    specs = replace(everything_specs(), extra=(file,))
    found = {(item.kind, item.name): item.fields["spec"] for item in folders(specs, "test")["argocd"]}
    project = found["AppProject", "test-teams"]
    assert {"group": "", "kind": "ResourceQuota"} in project["namespaceResourceWhitelist"]


def test_an_argocd_inside_a_cluster_has_its_settings_there():
    """Of the others, which share one, the first by name carries them."""
    inside = make_cluster(argocd={"version": "3.5.1", "destination": {"server": "https://kubernetes.default.svc"}})
    specs = make_specs(clusters={"laptop": inside, "atlas": everything(), "zeta": everything()})
    assert {name: carries(specs, name) for name in specs.clusters} == {"laptop": True, "atlas": True, "zeta": False}
    assert "argocd/settings" not in folders(specs, "zeta")
    assert "zeta-settings" not in {item.name for item in folders(specs, "zeta")["argocd"]}


@pytest.mark.node
def test_one_application_owns_the_settings_of_an_argocd(tmp_path):
    """Clusters are rendered one by one; two owners of one ConfigMap would take it from each other for ever."""
    clusters = {name: {**CLUSTER, "argocd": named(name)} for name in ("atlas", "borealis", "cumulus")}
    specs = read_repository(write_repository(tmp_path, clusters=clusters)).specs
    rendered = Rendering(specs, tmp_path).render(list(clusters), [])
    assert [item.cluster for item in rendered if item.folder == "argocd/settings"] == ["atlas"]


def named(cluster):
    """Return the Argo CD of a cluster that it knows by name."""
    return {"version": "3.5.1", "destination": {"name": cluster}}


def test_the_settings_are_health_scripts_and_ignored_fields_alone():
    """No other key of argocd-cm is ours."""
    assert all(key.startswith("resource.customizations.") for key in data())
    for name, known in known_health().items():
        assert data()[f"resource.customizations.health.{name.replace('/', '_')}"] == known.script()
    for kind in kinds().values():
        if kind.health:
            assert data()[f"resource.customizations.health.{kind.group}_{kind.object_kind}"] == kind.health
    for operator in operators().values():
        for key, script in operator.health.items():
            assert data()[f"resource.customizations.health.{key.replace('/', '_')}"] == script


def test_the_settings_are_also_values_of_the_chart(golden):
    """Who installs Argo CD by its chart merges this file into its values."""
    golden("../docs/argocd-values.yaml", dump({"configs": {"cm": data()}}))

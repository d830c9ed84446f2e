"""What rendered objects refer to is rendered too, or stands in the list of prerequisites; never both."""

from __future__ import annotations

import json
from functools import cache

import pytest
import yaml

from conftest import ROOT
from trainyard.base.labels import HOSTNAME, POOL
from trainyard.base.pools import selected_pools
from trainyard.render.operators.install import ceded_definitions, installed_operators, values
from trainyard.render.prerequisites import prerequisites
from trainyard.render.prerequisites.page import page
from trainyard.render.prerequisites.questions import (
    AllExisting,
    Definitions,
    Existing,
    NodeLabels,
    NodeOffers,
    PoolNodes,
)
from trainyard.render.sizing.fabrics.efa import DEVICE
from trainyard.render.tree import layout
from trainyard.specs.load import read_repository
from trainyard.specs.releases import release
from trainyard.specs.releases.facts import lookup

CLUSTERS = sorted(path.stem for path in (ROOT / "platform" / "clusters").glob("*.yaml"))
SIMULATED = {"rehearsal"}
"""Clusters whose nodes are rendered, see tests/clusters/test_rehearsal.py."""

WITH_MACHINES = [name for name in CLUSTERS if name not in SIMULATED]
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
BUILT_IN = {"", "apps", "batch", "policy", "networking.k8s.io", "storage.k8s.io", "rbac.authorization.k8s.io"}
BUILT_IN |= {"admissionregistration.k8s.io", "scheduling.k8s.io", "resource.k8s.io"}
SYSTEM = {"kube-system", "default"}
REFERENCES = {
    "secretKeyRef": "secrets",
    "secretRef": "secrets",
    "configMapKeyRef": "configmaps",
    "configMapRef": "configmaps",
}


@cache
def specs():
    """The specs of this repository."""
    return read_repository(ROOT).specs


@cache
def objects(cluster):
    """Return the rendered objects of a cluster with their folders."""
    folder = ROOT / "generated" / cluster
    paths = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.yaml"))]
    return [
        (path, value)
        for path in paths
        if layout.is_object(path)
        for value in yaml.load_all((folder / path).read_text(encoding="utf-8"), LOADER)
    ]


@cache
def questions(cluster):
    """Return the questions of a cluster's prerequisites."""
    return [item.question for items in prerequisites(specs(), cluster).values() for item in items]


def of(cluster, kind):
    """Return the questions of one kind."""
    return [question for question in questions(cluster) if isinstance(question, kind)]


def walk(value, key=""):
    """Yield every map inside a value, with the key that it stands under."""
    if isinstance(value, dict):
        yield key, value
        for name, item in value.items():
            yield from walk(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from walk(item, key)


def rendered(cluster):
    """Return kind, namespace and name of every rendered object."""
    return {(v["kind"], v["metadata"].get("namespace", ""), v["metadata"]["name"]) for _, v in objects(cluster)}


def maps(cluster):
    """Yield namespace, key and map of all maps in rendered objects."""
    for _, value in objects(cluster):
        for key, found in walk(value):
            yield value["metadata"].get("namespace", ""), key, found


def pods(cluster):
    """Yield pool and spec of every pod of a run."""
    for path, value in objects(cluster):
        for _, found in walk(value):
            selector = found.get("nodeSelector")
            if path.startswith(layout.RUNS) and "containers" in found and isinstance(selector, dict):
                yield next(iter(selected_pools(found, specs().clusters[cluster].selectors)), ""), found


def existing(cluster):
    """Return the paths of the objects that are prerequisites."""
    found = [*of(cluster, Existing), *(one for question in of(cluster, AllExisting) for one in question.objects)]
    return {question.path for question in found}


def plural_of(cluster):
    """Return the definitions that operators of ours install, with those of projects that they bring along."""
    names = {v["metadata"]["name"] for _, v in objects(cluster) if v["kind"] == "CustomResourceDefinition"}
    for site, operator in installed_operators(specs().clusters[cluster]):
        names |= {*site.facts.crds, *site.facts.brings_crds} - ceded_definitions(site)
        chosen = values(site, operator)
        brought = [bundle for bundle in site.facts.bundles if lookup(chosen, bundle.switch)]
        names |= {name for bundle in brought for name in release(bundle.project).crds}
    return names


def group_of(value):
    """Return the API group of an object."""
    return value["apiVersion"].rpartition("/")[0]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_kind_has_somebody_who_installs_it(cluster):
    """A custom resource is of an operator that is ours, or its definition is a prerequisite."""
    installed = {name.partition(".")[2] for name in plural_of(cluster)}
    needed = {name.partition(".")[2] for question in of(cluster, Definitions) for name in question.versions}
    local = "applications.argoproj.io" in {name for question in of(cluster, Definitions) for name in question.versions}
    needed |= set() if local else {"argoproj.io"}  # a central Argo CD is elsewhere
    groups = {group_of(value) for _, value in objects(cluster)} - BUILT_IN
    assert groups <= installed | needed


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_nothing_of_ours_is_a_prerequisite(cluster):
    """Neither definitions that our operators install, nor objects that are rendered."""
    needed = {name for question in of(cluster, Definitions) for name in question.versions}
    assert not needed & plural_of(cluster)
    names = {(kind, namespace, name) for kind, namespace, name in rendered(cluster) if kind not in {"Application"}}
    for question in of(cluster, Existing):
        namespace, _, name = question.name.rpartition("/")
        assert (question.kind, namespace, name) not in names


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_storage_class_is_there(cluster):
    """Claims name classes that are rendered or prerequisites, or none where they name a volume."""
    names = {found["storageClassName"] for _, _, found in maps(cluster) if found.get("storageClassName")}
    assert names
    for name in names:
        ours = ("StorageClass", "", name) in rendered(cluster)
        assert ours != (f"/apis/storage.k8s.io/v1/storageclasses/{name}" in existing(cluster))


def started(cluster):
    """Return the templates of nodes that Karpenter starts, by their pool."""
    pools = [value for _, value in objects(cluster) if value["kind"] == "NodePool"]
    templates = [value["spec"]["template"] for value in pools]
    return {template["metadata"]["labels"][POOL]: template for template in templates}


@pytest.mark.parametrize("cluster", WITH_MACHINES)
def test_every_label_of_nodes_is_a_prerequisite(cluster):
    """What selects nodes, or names levels of a topology, is the pool's label or a prerequisite of all pools."""
    keys = set()
    for _, key, found in maps(cluster):
        keys |= set(found) if key in {"nodeSelector", "nodeLabels"} and "nodeSelectorTerms" not in found else set()
        keys |= {found["nodeLabel"]} if "nodeLabel" in found else set()
        keys |= (
            {found["key"]}
            if key == "matchExpressions" and "operator" in found and "nodeAffinity" in str(key)
            else set()
        )
    selecting = {label for selector in specs().clusters[cluster].selectors.values() for label in selector}
    keys -= {"matchLabels", "matchExpressions", HOSTNAME, *selecting}
    pools = tuple(specs().clusters[cluster].pools)
    assert keys <= {key for question in of(cluster, NodeLabels) if question.pools == pools for key in question.keys}
    assert {question.pool for question in of(cluster, PoolNodes)} == set(pools) - set(started(cluster))


@pytest.mark.parametrize("cluster", WITH_MACHINES)
def test_every_taint_that_is_tolerated_is_a_prerequisite(cluster):
    """Flavors tolerate the taints of their pool's nodes."""
    taints = {
        question.pool: {(taint.key, taint.effect) for taint in question.taints} for question in of(cluster, PoolNodes)
    }
    for name, template in started(cluster).items():
        taints[name] = {(taint["key"], taint["effect"]) for taint in template["spec"].get("taints", ())}
    flavors = [value for _, value in objects(cluster) if value["kind"] == "ResourceFlavor"]
    assert bool(flavors) == bool(specs().clusters[cluster].queues_of("kueue"))
    for flavor in flavors:
        tolerated = {(one["key"], one["effect"]) for one in flavor["spec"].get("tolerations", ())}
        assert taints[flavor["metadata"]["name"]] == tolerated


def ours(cluster):
    """Return the prefixes of devices that operators of ours advertise, but those of a system's device plugin."""
    sites = [site for site, _ in installed_operators(specs().clusters[cluster])]
    shared = any("rdmaSharedDevicePlugin" in value.get("spec", {}) for _, value in objects(cluster))
    return {site.facts.prefix(site.choice.values) for site in sites if site.facts.resource_prefix} | (
        {"rdma"} if shared else set()
    )


@pytest.mark.parametrize("cluster", WITH_MACHINES)
def test_every_device_is_advertised_by_somebody(cluster):
    """What pods of a pool request beside cores and memory is of an operator of ours, or a prerequisite of that pool.

    EFA is both: a plugin of ours advertises the interfaces that nodes were launched with.
    """
    offered = {(question.pool, name) for question in of(cluster, NodeOffers) for name in question.amounts}
    wanted = {
        (pool, name)
        for pool, spec in pods(cluster)
        for container in spec["containers"]
        for amounts in container.get("resources", {}).values()
        if isinstance(amounts, dict)
        for name in amounts
        if "/" in name or name.startswith("hugepages-")
    }
    for pool, name in wanted:
        advertised = name.partition("/")[0] in ours(cluster)
        if name == DEVICE:
            assert (pool, name) in offered or (advertised and pool in started(cluster)), (pool, name)
        else:
            assert ((pool, name) in offered) != advertised, (pool, name)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_reference_is_there(cluster):
    """Secrets, ConfigMaps, accounts, runtimes and priorities that objects name are rendered, built in or listed."""
    there, listed = rendered(cluster), existing(cluster)
    kinds = {"secrets": "Secret", "configmaps": "ConfigMap", "serviceaccounts": "ServiceAccount"}
    wanted = set()
    for namespace, key, found in maps(cluster):
        if key in REFERENCES and not found.get("optional"):
            wanted.add((REFERENCES[key], namespace, found["name"]))
        if key == "secret" and "secretName" in found and not found.get("optional"):
            wanted.add(("secrets", namespace, found["secretName"]))
        if key == "imagePullSecrets":
            wanted.add(("secrets", namespace, found["name"]))
        if found.get("serviceAccountName", "default") != "default":
            wanted.add(("serviceaccounts", namespace, found["serviceAccountName"]))
        for name in (name for name in found if name.endswith("/provisioner-secret-name")):
            wanted.add(("secrets", found[name.replace("-name", "-namespace")], found[name]))
        if "priorityClassName" in found and not found["priorityClassName"].startswith("system-"):
            assert ("PriorityClass", "", found["priorityClassName"]) in there
        if "runtimeClassName" in found:
            assert f"/apis/node.k8s.io/v1/runtimeclasses/{found['runtimeClassName']}" in listed
    for plural, namespace, name in wanted:
        made = {(kinds[plural], namespace, name), ("ObjectBucketClaim", namespace, name)} & there
        assert bool(made) != (f"/api/v1/namespaces/{namespace}/{plural}/{name}" in listed), (plural, namespace, name)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_network_and_namespace_is_there(cluster):
    """Networks that pods are attached to by GKE, and namespaces that policies open, are rendered or listed."""
    there, listed = rendered(cluster), existing(cluster)
    for _, _, found in maps(cluster):
        networks = json.loads(found.get("networking.gke.io/interfaces", "[]"))
        names = {one["network"] for one in networks} - {"default"}
        ours = {name for name in names if ("Network", "", name) in there}
        assert {f"/apis/networking.gke.io/v1/networks/{name}" for name in names - ours} <= listed
        space = found.get("kubernetes.io/metadata.name")
        if isinstance(space, str) and space not in SYSTEM:
            assert ("Namespace", "", space) in there or f"/api/v1/namespaces/{space}" in listed, space


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_paths_of_nodes_that_runs_mount_are_made_by_somebody(cluster):
    """A run mounts a path that no kernel brings only where an installer of it is rendered or a prerequisite."""
    volumes = [volume for _, spec in pods(cluster) for volume in spec.get("volumes", ())]
    paths = {volume["hostPath"]["path"] for volume in volumes if "hostPath" in volume}
    made = {path for path in paths if not path.startswith(("/sys", "/proc"))}
    ours = any(kind == "DaemonSet" and name.startswith("nccl-") for kind, _, name in rendered(cluster))
    assert bool(made) == (ours or any(question.kind == "DaemonSet" for question in of(cluster, Existing)))


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_page_is_what_is_rendered(cluster):
    """`PREREQUISITES.md` has every prerequisite, and no API server or Argo CD takes it for an object."""
    text = (ROOT / "generated" / cluster / layout.PREREQUISITES).read_text(encoding="utf-8")
    assert text == page(specs(), cluster)
    assert text.count("\n- ") == len(questions(cluster))
    assert not layout.is_object(layout.PREREQUISITES)

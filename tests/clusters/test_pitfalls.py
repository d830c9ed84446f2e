"""What goes wrong with jobs under Argo CD is not rendered; tests/pitfalls.yaml joins tests and pitfalls."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT
from everything import everything_specs
from make import make_job
from trainyard.base.quantities import Quantity
from trainyard.render.clusters import folders
from trainyard.render.kinds import kinds
from trainyard.specs.run import digest

GENERATED = ROOT / "generated"
SYNC, COMPARE = "argocd.argoproj.io/sync-options", "argocd.argoproj.io/compare-options"
WAVE = "argocd.argoproj.io/sync-wave"
WORKLOADS = {(kind.api_version, kind.object_kind) for kind in kinds().values()}
LISTS = {"JobSet", "RayJob", "RayCluster"}
"""Kinds with pod templates in a list, which Argo CD replaces whole (measured on 3.2.6)."""

LIMIT = 10 * 2**20
"""Bytes of manifests in one folder that Argo CD reads by default (argo-cd v3.2.6 docs/user-guide/directory.md)."""


@cache
def tree() -> tuple[tuple[Path, dict[str, Any]], ...]:
    """Return path and value of every object of this repository's tree."""
    paths = sorted(GENERATED.rglob("*.yaml"))
    return tuple((path, yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)) for path in paths)


def objects(part: str = "") -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the objects that Argo CD syncs, or those of one folder of each cluster."""
    for path, value in tree():
        folder = path.relative_to(GENERATED).parts[1]
        if folder != "nodes" and part in ("", folder):
            yield path, value


def annotations(value: dict[str, Any]) -> dict[str, str]:
    """Return the annotations of an object."""
    return value["metadata"].get("annotations") or {}


def applications() -> dict[str, dict[str, Any]]:
    """Return all Applications: those of the tree, and those of a cluster that has everything."""
    found = {value["metadata"]["name"]: value for _, value in objects("argocd") if value["kind"] == "Application"}
    made = folders(everything_specs(), "test")["argocd"]
    return found | {item.name: item.value() for item in made if item.kind == "Application"}


def options(application: dict[str, Any]) -> set[str]:
    """Return the sync options of an Application."""
    return set(application["spec"]["syncPolicy"]["syncOptions"])


def walk(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every field of a value with its path; items of lists have the path of their list."""
    yield path, value
    inner = value.items() if isinstance(value, dict) else ()
    for key, item in inner:
        yield from walk(item, (*path, str(key)))
    for item in value if isinstance(value, list) else ():
        yield from walk(item, path)


def test_no_run_says_what_kueue_decides():
    """Kueue lets a job go and says where; what Git says of it would be set back at the next sync."""
    forbidden = {"suspend", "managedBy", "schedulingGates"}
    runs = [(path, value) for path, value in objects("runs") if value["kind"] != "ConfigMap"]
    assert len(runs) > 100
    found = [path.name for path, value in runs for at, _ in walk(value.get("spec", {})) if at and at[-1] in forbidden]
    assert found == []


def test_no_list_of_a_run_has_what_kueue_adds():
    """Tolerations, node selectors and gates come with the flavor, where Argo CD would replace the list whole."""
    for path, value in objects("runs"):
        if value["kind"] in LISTS:
            assert not [at for at, _ in walk(value) if at and at[-1] == "tolerations"], path


def test_no_run_has_a_patch_of_kueue_s():
    """A TrainJob's own patches are listed by their manager, and never under Kueue's name."""
    for path, value in objects("runs"):
        patches = value.get("spec", {}).get("runtimePatches", ()) if value["kind"] == "TrainJob" else ()
        assert all("kueue" not in patch["manager"] for patch in patches), path


def test_the_queue_and_the_priority_are_part_of_a_run_s_name():
    """Kueue refuses to change their labels while a job runs, so another queue is another run."""
    names = {digest(make_job(**changes), {}) for changes in ({}, {"queue": "other"}, {"priority": "high"})}
    assert len(names) == 3


def test_a_workload_is_in_the_last_wave_of_its_run():
    """Argo CD waits for health in every other wave, and a job that queues is not healthy for days."""
    for path, value in objects("runs"):
        wave = int(annotations(value).get(WAVE, "0"))
        workload = (value["apiVersion"], value["kind"]) in WORKLOADS
        assert wave == 0 if workload else wave <= 0, path


def test_nothing_is_a_hook():
    """A hook runs at each sync, is deleted by the next one, and is no difference when it is gone."""
    for path, value in objects():
        assert not [key for key in annotations(value) if key.endswith(("/hook", "/hook-delete-policy"))], path


def test_nothing_is_pruned_last_replaced_or_forced():
    """Neither an Application nor an object asks for it: jobs would be deleted, or the sync would wait for them."""
    asked = {option for _, value in objects() for option in annotations(value).get(SYNC, "").split(",")}
    asked |= {option for application in applications().values() for option in options(application)}
    refused = {"PruneLast=true", "Replace=true", "Force=true", "Prune=confirm", "CreateNamespace=true"}
    assert "ServerSideApply=true" in asked
    assert asked & refused == set()


def test_nothing_of_a_run_outlives_its_file():
    """With Prune=false a retired run would train on, and Git would say that it does not exist."""
    for path, value in objects("runs"):
        assert "Prune=false" not in annotations(value).get(SYNC, ""), path
        assert COMPARE not in annotations(value), path


def test_every_object_has_a_name():
    """What has generateName alone cannot be applied."""
    for path, value in objects():
        assert value["metadata"]["name"], path
        assert "generateName" not in value["metadata"], path


def test_ignored_fields_are_left_alone_by_syncs_too():
    """Without RespectIgnoreDifferences a field is ignored when compared, and overwritten when synced."""
    ignoring = [value for value in applications().values() if value["spec"].get("ignoreDifferences")]
    assert len(ignoring) > 10
    assert all("RespectIgnoreDifferences=true" in options(value) for value in ignoring)


def test_what_the_server_applies_the_server_compares():
    """Charts have definitions too large for the annotation of kubectl; runs have fields that no dry run may change."""
    for name, value in applications().items():
        applied = "ServerSideApply=true" in options(value)
        assert annotations(value)[COMPARE] == f"ServerSideDiff={'true' if applied else 'false'}", name
        if "helm" in value["spec"]["source"] or "kustomize" in value["spec"]["source"]:
            assert applied, name
        if "-runs-" in name or "-teams-" in name or name.endswith("-platform"):
            assert not applied, name


def test_definitions_are_never_pruned():
    """What a chart no longer has stays; its objects would go with a definition, and with them queues and jobs."""
    for name, value in applications().items():
        if "helm" in value["spec"]["source"] or "kustomize" in value["spec"]["source"]:
            assert "prune" not in value["spec"]["syncPolicy"]["automated"], name


def test_no_two_applications_own_an_object():
    """An object that moves from one to the other is a failed sync and no deleted object."""
    for name, value in applications().items():
        assert "FailOnSharedResource=true" in options(value) or name.endswith("-settings"), name


def test_claims_wait_for_no_wave():
    """A claim is bound when its first pod comes, so nothing may wait for it."""
    claims = [value for _, value in objects() if value["kind"] == "PersistentVolumeClaim"]
    assert claims
    assert not [value for value in claims if WAVE in annotations(value)]
    assert not [path for path, value in objects("runs") if value["kind"] == "PersistentVolumeClaim"]


def test_no_workload_owns_claims():
    """A JobSet would delete the claims that it makes, and of a StatefulSet they are a difference for ever."""
    owned = {"volumeClaimPolicies", "volumeClaimTemplates"}
    assert not [path for path, value in objects() for at, _ in walk(value) if at and at[-1] in owned]


def test_quantities_are_as_the_server_writes_them():
    """`1000m` in Git and `1` in the cluster would be a difference for ever."""
    for path, value in objects("runs"):
        for at, amount in walk(value):
            if at[-2:-1] and at[-2] in {"requests", "limits"} and not isinstance(amount, dict):
                assert isinstance(amount, str), (path, at)
                assert Quantity.parse(amount).canonical() == amount, (path, at, amount)


def test_nothing_is_labelled_as_an_application_s():
    """Operators copy labels to what they make, which Argo CD would then take for its own and prune."""
    for path, value in objects():
        for _, field in walk(value):
            if isinstance(field, dict):
                assert "argocd.argoproj.io/tracking-id" not in field, path
        assert "app.kubernetes.io/instance" not in (value["metadata"].get("labels") or {}), path


def test_nothing_is_made_by_an_applicationset_or_multikueue():
    """An entry that goes would take Applications and jobs along; a copy on another cluster would be pruned there."""
    made = {value["kind"] for _, value in objects()}
    assert not made & {"ApplicationSet", "MultiKueueCluster", "MultiKueueConfig"}


@pytest.mark.parametrize("cluster", sorted(path.name for path in GENERATED.iterdir() if path.is_dir()))
def test_no_folder_is_too_large(cluster):
    """Argo CD reads 10 MB of a folder, and nothing but the YAML in it."""
    sizes: dict[Path, int] = {}
    for path in (GENERATED / cluster).rglob("*.yaml"):
        parts = path.relative_to(GENERATED / cluster).parts
        folder = Path(*parts[: 2 if parts[0] in {"operators", "teams", "runs"} else 1])
        sizes[folder] = sizes.get(folder, 0) + path.stat().st_size
    assert max(sizes.values()) < LIMIT
    own = [value for value in applications().values() if "directory" in value["spec"]["source"]]
    assert all(value["spec"]["source"]["directory"]["include"] == "*.yaml" for value in own)


def test_every_synced_folder_keeps_an_object():
    """A folder that loses its last file is an error, and an emptied one is not synced: the last job would train on."""
    runs = [path for path in GENERATED.glob("*/runs/*") if path.is_dir()]
    assert runs
    assert all((folder / "configmap.trainyard-runs.yaml").exists() for folder in runs)

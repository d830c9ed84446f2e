"""What we make of an object is what the real controllers make: recorded from a control plane, and asked afresh."""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from local import facts
from trainyard.faces.local import pods, work_of
from trainyard.faces.local.controllers import controllers

HERE = Path(__file__).parent
JOBS = {path.stem: path for path in sorted((HERE / "jobs").glob("*.yaml"))}
NAMESPACE = "somewhere"
OLD = frozenset({"mpijob-v1"})
"""Jobs of an operator that no control plane has beside its successor: they have one of their own."""


def objects(name: str) -> list[dict[str, Any]]:
    """Return the objects of a file, in a namespace."""
    found = list(yaml.safe_load_all(JOBS[name].read_text()))
    for document in found:
        document["metadata"]["namespace"] = NAMESPACE
    return found


def ours(name: str) -> list[str]:
    """Return what we make of the objects of a file."""
    (work,) = work_of(objects(name))
    made = work.controller.make(work.value, work.objects).objects
    return facts.lines(work.value["metadata"]["name"], [pod.pod.value for pod in work.pods], made)


@pytest.mark.parametrize("name", JOBS)
def test_pods_are_those_of_the_real_controllers(name):
    """Names, labels, command lines, variables in their order, volumes, Services and ConfigMaps, line by line."""
    recorded = (HERE / f"recorded/{name}.txt").read_text().splitlines()
    assert recorded, "nothing is recorded"
    diff = list(difflib.unified_diff(recorded, ours(name), "the controllers", "ours", lineterm=""))
    assert not diff, "\n".join(diff)


def test_every_controller_is_compared():
    """No kind is known that nothing recorded speaks of, but a Pod, which is its own."""
    seen = {(item["kind"], item["apiVersion"]) for name in JOBS for item in objects(name)}
    for controller in controllers():
        takes = [kind for kind, version in seen if controller.takes({"kind": kind, "apiVersion": version})]
        assert takes or controller.kind == "Pod", controller


@pytest.fixture(scope="module", params=["TRAINYARD_KUBECONFIG", "TRAINYARD_KUBECONFIG_MPIJOB_V1"])
def plane(request) -> Iterator[Any]:
    """A control plane that may be changed, with a namespace; or a loud skip."""
    kubeconfig = os.environ.get(request.param)
    if not kubeconfig or os.environ.get("TRAINYARD_THROWAWAY") != "1":
        pytest.skip(f"what controllers make of jobs: set {request.param} and TRAINYARD_THROWAWAY=1")
    from kubernetes import client, config

    api = config.new_client_from_config(kubeconfig)
    core = client.CoreV1Api(api)
    core.create_namespace({"metadata": {"name": NAMESPACE}})
    yield request.param, api, core
    core.delete_namespace(NAMESPACE)


def place(value: Mapping[str, Any]) -> dict[str, str]:
    """Return where objects of a kind are."""
    group, _, version = value["apiVersion"].rpartition("/")
    return {"group": group, "version": version, "namespace": NAMESPACE, "plural": f"{value['kind'].lower()}s"}


def theirs(api: Any, core: Any, name: str) -> list[str]:
    """Return what the controllers make of the objects of a file, once nothing changes any more."""
    from kubernetes.client import CustomObjectsApi

    job, client = objects(name)[-1], CustomObjectsApi(api)
    wanted = len(pods(objects(name)))
    for item in objects(name):
        client.create_namespaced_custom_object(**place(item), body=item)
    last: list[str] = []
    since, end = time.monotonic(), time.monotonic() + 90
    while time.monotonic() < end:
        now = seen(api, core, job["metadata"]["name"])
        there = [line for line in now if line.startswith("pod ")]
        if now != last:
            last, since = now, time.monotonic()
        if len(there) >= wanted and time.monotonic() - since > 2:
            break
        time.sleep(0.3)
    for item in objects(name):
        client.delete_namespaced_custom_object(
            **place(item), name=item["metadata"]["name"], propagation_policy="Background"
        )
    while time.monotonic() < end + 60 and seen(api, core, ""):
        time.sleep(0.3)
        for config in core.list_namespaced_config_map(NAMESPACE).items:
            core.delete_namespaced_config_map(config.metadata.name, NAMESPACE)
    return last


def seen(api: Any, core: Any, job: str) -> list[str]:
    """Return what is told of everything in the namespace that a controller made."""
    lists = {
        "Service": core.list_namespaced_service,
        "ConfigMap": core.list_namespaced_config_map,
        "Secret": core.list_namespaced_secret,
    }
    beside = []
    for kind, ask in lists.items():
        for item in api.sanitize_for_serialization(ask(NAMESPACE).items):
            name = item["metadata"]["name"]
            if name != "kube-root-ca.crt" and not name.endswith("-runtime-snapshot"):
                beside.append({**item, "kind": kind})
    return facts.lines(job, api.sanitize_for_serialization(core.list_namespaced_pod(NAMESPACE).items), beside)


@pytest.mark.cluster
@pytest.mark.parametrize("name", JOBS)
def test_what_is_recorded_is_what_a_control_plane_makes(name, plane, request):
    """The record is a control plane's own; `--update` writes it."""
    which, api, core = plane
    if which.endswith("V1") != (name in OLD):
        return
    found = theirs(api, core, name)
    path = HERE / f"recorded/{name}.txt"
    if request.config.getoption("--update"):
        path.write_text("\n".join(found) + "\n")
    assert found == path.read_text().splitlines()

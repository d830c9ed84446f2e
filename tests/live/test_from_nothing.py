"""A new, empty cluster comes up from the root Application alone, with the charts of its operators, and then changes.

Needs TRAINYARD_EMPTY_CLUSTER, the kubeconfig of a cluster with Argo CD on which nothing is installed, started by
tools/oracles/cluster/empty, and TRAINYARD_THROWAWAY=1. With `--update` what was seen is
recorded for docs/first-sync.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest

from argocd_site import LOCAL, NAME, Site, job, running
from conftest import ROOT
from local_sources import turn_sources
from make import CLUSTER, CPU_NODE, TEAM, fields
from trainyard.base.documents import dump

pytestmark = [pytest.mark.argocd, pytest.mark.timeout(3600)]

RECORD = ROOT / "tests/live/first_sync.json"
OPERATORS = {
    "kueue": "0.18.6",
    "jobset": "0.11.1",
    "trainer": "2.2.1",
    "kuberay": "1.6.2",
    "lws": "0.10.0",
    "training-operator": "1.9.4",
}
"""Operators that the cluster installs, each by its chart or its manifests."""

NEWER = {"jobset": "0.12.0", "trainer": "2.3.0", "kueue": "0.19.2", "kuberay": "1.7.0"}
"""Releases to which `trainyard upgrade` takes them, one after the other, as it says."""

TYPES = {
    "clusterqueues.kueue.x-k8s.io": "ClusterQueue",
    "localqueues.kueue.x-k8s.io": "LocalQueue",
    "jobsets.jobset.x-k8s.io": "JobSet",
    "trainjobs.trainer.kubeflow.org": "TrainJob",
}
"""Definitions whose creation is part of the order."""

OTHER = "leavers"
"""The team that is removed in the end."""


@dataclass
class Watcher:
    """Looks at the Applications every half second, and keeps what changes."""

    site: Site
    begun: float = field(default_factory=time.monotonic)
    events: list[dict[str, Any]] = field(default_factory=list)
    phases: list[dict[str, Any]] = field(default_factory=list)
    last: dict[str, dict[str, Any]] = field(default_factory=dict)
    made: dict[str, float] = field(default_factory=dict)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Look until stopped."""
        while not self.stopped.wait(0.5):
            self.look()

    def look(self) -> None:
        """Keep the state of every Application that is another one than before."""
        for name, application in self.site.applications().items():
            state = shown(application)
            if state != self.last.get(name):
                self.last[name] = state
                self.events.append({"at": self.seconds(), "name": name.removeprefix(f"{NAME}-"), **state})

    def seconds(self) -> float:
        """Return the seconds since the root Application was applied."""
        return round(time.monotonic() - self.begun, 1)

    def order(self) -> dict[str, float]:
        """Return when objects were created, in seconds after the root Application, as the server says."""
        core, custom = self.site.core, self.site.custom
        definitions = {name: ("apiextensions.k8s.io", "v1", "customresourcedefinitions", name) for name in TYPES}
        objects = {
            f"definition of {TYPES[name]}": custom.get_cluster_custom_object(*at) for name, at in definitions.items()
        }
        objects["ClusterQueue"] = custom.get_cluster_custom_object(
            "kueue.x-k8s.io", "v1beta2", "clusterqueues", "research"
        )
        objects["LocalQueue of the team"] = custom.get_namespaced_custom_object(
            "kueue.x-k8s.io", "v1beta2", NAME, "localqueues", "research"
        )
        times = {
            name: datetime.fromisoformat(value["metadata"]["creationTimestamp"]) for name, value in objects.items()
        }
        times["namespace of the team"] = core.read_namespace(NAME).metadata.creation_timestamp
        root = self.site.applications()[f"{NAME}-argocd"]["metadata"]["creationTimestamp"]
        begun = datetime.fromisoformat(root)
        return {name: (time - begun).total_seconds() for name, time in sorted(times.items(), key=lambda item: item[1])}

    def phase(self, what: str, change: Callable[[], None], reached: Callable[[], bool], limit: float) -> None:
        """Change something, wait for what follows, and keep how long it took."""
        start = self.seconds()
        change()
        self.site.until(what, reached, seconds=limit)
        self.phases.append({"what": what, "at": start, "seconds": round(self.seconds() - start, 1)})


def shown(application: dict[str, Any]) -> dict[str, Any]:
    """Return what Argo CD says of an Application, in few fields."""
    status = application.get("status", {})
    operation = status.get("operationState") or {}
    phase = operation.get("phase", "")
    return {
        "sync": status.get("sync", {}).get("status", ""),
        "health": (status.get("health") or {}).get("status", ""),
        "operation": phase,
        "attempts": 1 + operation.get("retryCount", 0) if operation else 0,
        "message": operation.get("message", "") if phase != "Succeeded" else "",
    }


def cluster(**operators: str) -> dict[str, Any]:
    """Return the cluster: one pool, one queue of two teams, all operators installed by Argo CD."""
    chosen = {name: {"version": version} for name, version in (OPERATORS | operators).items()}
    return fields(
        CLUSTER,
        {
            "argocd": LOCAL,
            "topology": None,
            "pools": {"cpu": {"shape": CPU_NODE, "nodes": 3}},
            "storage": None,
            "drivers": None,
            "operators": chosen,
            "queues": {"research": {"teams": [NAME, OTHER], "nominalQuota": {"cpu": {"nodes": 3}}}},
        },
    )


@pytest.fixture(scope="module")
def watcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watcher]:
    """The empty cluster with the root Application just applied, or a loud skip."""
    team = fields(TEAM, {"volumes": None, "secrets": None})
    written = {"jobs": {}, "clusters": {NAME: cluster()}, "teams": {NAME: team, OTHER: team}}
    with running("TRAINYARD_EMPTY_CLUSTER", tmp_path_factory.mktemp("nothing"), written, turn_sources) as site:
        found, begun = Watcher(site), os.getloadavg()[0]
        thread = threading.Thread(target=found.run, daemon=True)
        thread.start()
        yield found
        found.stopped.set()
        thread.join()
        if request.config.getoption("--update"):
            record = {"operators": OPERATORS, "phases": found.phases, "events": found.events, "order": found.made}
            record["load"] = [round(load) for load in (begun, os.getloadavg()[0])]
            RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


def healthy(site: Site) -> bool:
    """Whether every Application is in sync, healthy and at rest."""
    states = [shown(application) for application in site.applications().values()]
    return all(
        (state["sync"], state["health"], state["operation"]) in {("Synced", "Healthy", "Succeeded")} for state in states
    )


def test_it_comes_up_from_the_root_alone(watcher: Watcher) -> None:
    """Nobody lends a hand: every Application is in sync and healthy, teams after the types of their queues."""
    site = watcher.site
    watcher.phase("every Application is Synced and Healthy", lambda: None, lambda: healthy(site), 1500)
    installed = [f"operators-{name}" for name in OPERATORS]
    parts = {name.removeprefix(f"{NAME}-") for name in site.applications()}
    assert {"argocd", "settings", "platform", f"teams-{NAME}", f"runs-{NAME}", *installed} <= parts
    made = watcher.made = watcher.order()
    assert made["definition of LocalQueue"] <= made["namespace of the team"] <= made["LocalQueue of the team"]
    assert made["definition of ClusterQueue"] <= made["ClusterQueue"]
    assert not [event for event in watcher.events if event["operation"] in {"Failed", "Error"}]


def test_a_job_runs(watcher: Watcher) -> None:
    """Both kinds of run get quota from Kueue, and their pods run."""
    site = watcher.site

    def change() -> None:
        site.repository.put(f"jobs/{NAME}/first.yaml", dump(job(nodes=1)))
        site.repository.put(f"jobs/{NAME}/tuned.yaml", dump(job(kind="TrainJob", nodes=1)))
        site.repository.put(f"jobs/{OTHER}/last.yaml", dump(job(nodes=1)))
        site.commit("Add three jobs")

    watcher.phase("pods of a JobSet and a TrainJob run", change, lambda: len(site.pods()) == 2, 600)
    listed = site.custom.list_namespaced_custom_object("kueue.x-k8s.io", "v1beta2", NAME, "workloads")["items"]
    assert {item["metadata"]["ownerReferences"][0]["kind"] for item in listed} == {"JobSet", "TrainJob"}


@pytest.mark.parametrize("name", NEWER)
def test_an_operator_is_upgraded(watcher: Watcher, name: str) -> None:
    """What `trainyard upgrade` says restarts does restart, and nothing else; what it says changes is what changes."""
    site, before = watcher.site, Seen.of(watcher.site)
    words = f"{name} {NEWER[name]} instead of {OPERATORS[name]} is Synced and Healthy"
    said = json.loads(called(site, "upgrade", NAME, name, NEWER[name], "--format", "json"))
    assert [row["operator"] for row in said["written"]] == [name]
    (step,) = said["steps"]
    left = list(step["left"])

    def reached() -> bool:
        application = site.applications()[f"{NAME}-operators-{name}-chart"]
        status = application["status"]
        new = NEWER[name] in status.get("sync", {}).get("comparedTo", {}).get("source", {}).get("path", "")
        while left and new and outside(status) == set(step["left"]):
            delete(site, left.pop())
        return new and not left and settled(shown(application)) and healthy_but_runs(site)

    watcher.phase(words, lambda: site.commit(f"Upgrade {name}"), reached, 600)
    after = Seen.of(site)
    restarts = {text.partition(" (")[0] for text in step["restarts"]}
    assert {one.partition("/")[2] for one in before.templates if after.templates.get(one) != before.templates[one]} == (
        restarts
    )
    changed = {name for name, spec in before.applications.items() if after.applications.get(name) != spec}
    told = {row["object"].rpartition("/")[2] for row in said["objects"] if row["object"].startswith("Application ")}
    assert changed == told
    assert after.runs == before.runs
    assert before.kept <= after.kept


def outside(status: dict[str, Any]) -> set[str]:
    """Return the objects for which an Application is out of sync, as an upgrade names what is left over."""
    found = [one for one in status.get("resources", []) if one.get("status") == "OutOfSync"]
    return {
        f"{one['kind']} {one.get('namespace', '')}{'/' if one.get('namespace') else ''}{one['name']}" for one in found
    }


def delete(site: Site, thing: str) -> None:
    """Delete an object that a chart left over, as a person does."""
    kind, _, name = thing.partition(" ")
    namespace, _, own = name.partition("/")
    site.custom.delete_namespaced_custom_object("rbac.authorization.k8s.io", "v1", namespace, f"{kind.lower()}s", own)


@dataclass(frozen=True)
class Seen:
    """What a cluster has that an upgrade could touch."""

    templates: dict[str, Any]
    """Pod templates of operators' Deployments and DaemonSets, by namespace and name."""
    applications: dict[str, Any]
    runs: dict[str, str]
    """Pods and Workloads of runs, by kind and name, with what identifies each."""
    kept: frozenset[tuple[str, str]]
    """Definitions, queues, flavors and namespaces, with what identifies each."""

    @classmethod
    def of(cls, site: Site) -> Seen:
        """Look at a cluster."""
        from kubernetes import client

        apps = client.AppsV1Api(site.core.api_client)
        listed = [*apps.list_deployment_for_all_namespaces().items, *apps.list_daemon_set_for_all_namespaces().items]
        templates = {f"{one.metadata.namespace}/{one.metadata.name}": one.spec.template.to_dict() for one in listed}
        specs = {name: turned(item["spec"]) for name, item in site.applications().items()}
        workloads = site.custom.list_namespaced_custom_object("kueue.x-k8s.io", "v1beta2", NAME, "workloads")["items"]
        runs = {f"Workload {one['metadata']['name']}": one["metadata"]["uid"] for one in workloads}
        kept = {(one.metadata.name, one.metadata.uid) for one in site.core.list_namespace().items}
        for group, version, plural in KEPT:
            for one in site.custom.list_cluster_custom_object(group, version, plural)["items"]:
                kept.add((one["metadata"]["name"], one["metadata"]["uid"]))
        return cls(templates, specs, runs | site.pods(), frozenset(kept))


KEPT = (
    ("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
    ("kueue.x-k8s.io", "v1beta2", "clusterqueues"),
    ("kueue.x-k8s.io", "v1beta2", "localqueues"),
    ("kueue.x-k8s.io", "v1beta2", "resourceflavors"),
)


def turned(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an Application that are not those of a commit."""
    return {key: value for key, value in spec.items() if key != "operation"}


def settled(state: dict[str, Any]) -> bool:
    """Whether an Application is in sync, healthy and at rest."""
    return (state["sync"], state["health"], state["operation"]) == ("Synced", "Healthy", "Succeeded")


def called(site: Site, *arguments: str) -> str:
    """Return what a command of ours prints in the repository."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "platform"), "CI": ""}
    command = [sys.executable, "-m", "trainyard", *arguments]
    done = subprocess.run(
        command, cwd=site.repository.root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def planned(site: Site) -> dict[str, set[str]]:
    """Return the runs of our team and the other one by what the plan of the change on disk says of them."""
    called(site, "synth")
    plan = json.loads(called(site, "plan", "--base", "HEAD", "--format", "json"))["plan"]
    found: dict[str, set[str]] = {}
    for row in plan["runs"]:
        found.setdefault(row["word"], set()).add(row["run"])
        if row["before"]:
            found.setdefault("ends", set()).add(row["before"])
    return found


def workloads(site: Site, *namespaces: str) -> dict[str, str]:
    """Return the runs of namespaces with what identifies each."""
    found = {}
    for namespace in namespaces:
        for group, version, plural in RUNS:
            listed = site.custom.list_namespaced_custom_object(group, version, namespace, plural)["items"]
            found |= {one["metadata"]["name"]: one["metadata"]["uid"] for one in listed}
    return found


RUNS = (("jobset.x-k8s.io", "v1alpha2", "jobsets"), ("trainer.kubeflow.org", "v1alpha1", "trainjobs"))


def test_a_run_is_replaced(watcher: Watcher) -> None:
    """The old run ends and the new one starts, the others run on, as the plan says."""
    site = watcher.site
    before = workloads(site, NAME, OTHER)
    site.repository.put(f"jobs/{NAME}/first.yaml", dump(job(nodes=1, cpusPerNode=2)))
    said = planned(site)
    (new,), (old,) = said["replaces"], said["ends"]

    def reached() -> bool:
        names = {pod.rpartition("-worker-")[0] for pod in site.pods()}
        return new in names and old not in names

    watcher.phase("the new run's pod runs, and the old run is gone", lambda: site.commit("Change a job"), reached, 180)
    after = workloads(site, NAME, OTHER)
    assert set(after) == set(before) - {old} | {new}
    assert all(after[name] == uid for name, uid in before.items() if name != old)


def quota(site: Site) -> str:
    """Return the CPUs of the cluster's queue."""
    (queue,) = site.custom.list_cluster_custom_object("kueue.x-k8s.io", "v1beta2", "clusterqueues")["items"]
    (group,) = queue["spec"]["resourceGroups"]
    (flavor,) = group["flavors"]
    return str(next(item["nominalQuota"] for item in flavor["resources"] if item["name"] == "cpu"))


def test_a_pool_grows(watcher: Watcher) -> None:
    """The quota follows the nodes, and pods of runs stay."""
    site, before, was = watcher.site, watcher.site.pods(), quota(watcher.site)

    def change() -> None:
        larger = cluster(**NEWER)
        larger["pools"] = {"cpu": {"shape": CPU_NODE, "nodes": 4}}
        larger["queues"] = {"research": {"teams": [NAME, OTHER], "nominalQuota": {"cpu": {"nodes": 4}}}}
        site.repository.put(f"platform/clusters/{NAME}.yaml", dump(larger))
        site.commit("Add a node to the pool")

    watcher.phase("the queue has the quota of 4 nodes instead of 3", change, lambda: quota(site) != was, 120)
    assert site.pods() == before


def test_a_team_goes(watcher: Watcher) -> None:
    """Its runs end when its jobs are retired; then its Applications go, its namespace stays, and others' pods too."""
    site, before = watcher.site, watcher.site.pods()

    def pods() -> int:
        return len([item for item in site.core.list_namespaced_pod(OTHER).items if item.status.phase == "Running"])

    def retire() -> None:
        site.repository.put(f"jobs/{OTHER}/last.yaml", dump(job(nodes=1, retired=True)))
        site.commit("Retire the jobs of a team")

    watcher.phase("no pod of the team that leaves is left", retire, lambda: pods() == 0, 180)

    def change() -> None:
        smaller = cluster(**NEWER)
        smaller["pools"] = {"cpu": {"shape": CPU_NODE, "nodes": 4}}
        smaller["queues"] = {"research": {"teams": [NAME], "nominalQuota": {"cpu": {"nodes": 4}}}}
        site.repository.put(f"platform/clusters/{NAME}.yaml", dump(smaller))
        for path in (f"jobs/{OTHER}/last.yaml", f"platform/teams/{OTHER}.yaml"):
            (site.repository.root / path).unlink()
        site.commit("Remove a team")

    def reached() -> bool:
        return not [name for name in site.applications() if name.endswith(f"-{OTHER}")] and healthy_but_runs(site)

    watcher.phase("the team's Applications are gone, all others as before", change, reached, 180)
    assert OTHER in [item.metadata.name for item in site.core.list_namespace().items]
    assert site.pods() == before


def healthy_but_runs(site: Site) -> bool:
    """Whether every Application is in sync, and each but those of runs healthy."""
    states = {name: shown(application) for name, application in site.applications().items()}
    return all(
        state["sync"] == "Synced" and (state["health"] == "Healthy" or "-runs-" in name)
        for name, state in states.items()
    )

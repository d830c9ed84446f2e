"""The program of a pipeline's step starts runs on a real control plane, waits for them, and ends as they do.

Needs TRAINYARD_KUBECONFIG and, since it makes a namespace and a queue of its own, TRAINYARD_THROWAWAY=1; a Kueue that
queues Jobs. The rights of the step are those that are rendered for it. Pods are told to have ended: nothing runs them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from make import make_cluster, make_run
from trainyard.faces.live.server import Server
from trainyard.faces.pipelines.follow import suffix
from trainyard.faces.pipelines.steps import PROGRAM, steps
from trainyard.render.clusters.rights import of_pipelines
from trainyard.render.kinds import resolve

pytestmark = pytest.mark.cluster

IMAGE = "registry.example.com/python@sha256:" + "0" * 64
WAIT = 60
"""Seconds that a test waits for a control plane at most."""


class Absent(Exception):
    """There is no such object."""


class Control:
    """A control plane with a namespace, a queue and the step's account."""

    def __init__(self, folder):
        from kubernetes import client, config

        kubeconfig = Path(os.environ["TRAINYARD_KUBECONFIG"])
        settings = client.Configuration()
        config.load_kube_config(str(kubeconfig), client_configuration=settings)
        host = urlsplit(settings.host)
        self.server = Server(kubeconfig=kubeconfig)
        self.namespace = f"steps-{uuid.uuid4().hex[:8]}"
        self.folder = folder
        self.env = {
            **os.environ,
            "KUBERNETES_SERVICE_HOST": host.hostname,
            "KUBERNETES_SERVICE_PORT": str(host.port),
            "SERVICE_ACCOUNT_FOLDER": str(folder),
            "SECONDS_BETWEEN_LOOKS": "0.2",
        }
        (folder / "ca.crt").write_bytes(Path(settings.ssl_ca_cert).read_bytes())

    def call(self, method, path, body=None, form=None):
        """Return what the server says; raises Absent where there is no such object."""
        answer, value = self.server.request(method, path, body=body, media_type=form)
        if answer.code == 404:
            raise Absent(path)
        assert answer.accepted, f"{method} {path}: {answer.code} {answer.message}"
        return value

    def prepare(self):
        """Make the namespace, a queue of plenty, and the account with its rights."""
        name = self.namespace
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        kueue = "/apis/kueue.x-k8s.io/v1beta2"
        quota = [{"name": item, "nominalQuota": "1000Gi"} for item in ("cpu", "memory", "ephemeral-storage")]
        group = {"coveredResources": [item["name"] for item in quota], "flavors": [{"name": name, "resources": quota}]}
        spec = {"namespaceSelector": {}, "resourceGroups": [group]}
        self.call("POST", f"{kueue}/resourceflavors", kind("ResourceFlavor", name, {}))
        self.call("POST", f"{kueue}/clusterqueues", kind("ClusterQueue", name, spec))
        queue = kind("LocalQueue", "research", {"clusterQueue": name})
        self.call("POST", f"{kueue}/namespaces/{name}/localqueues", queue)
        self.call("POST", f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "pipeline-runner"}})
        cluster = make_cluster(pipelines={"image": IMAGE})
        for pipeline in of_pipelines(cluster, cluster.pipelines, name):
            rbac = f"/apis/{pipeline.api_version}/namespaces/{name}/{pipeline.kind.lower()}s"
            self.call("POST", rbac, pipeline.value())
        self.token()

    def token(self):
        """Write a token of the account where a pod would have it."""
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        path = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/pipeline-runner/token"
        (self.folder / "token").write_text(self.call("POST", path, body)["status"]["token"])

    def remove(self):
        """Take everything away again."""
        for kind_ in ("clusterqueues", "resourceflavors"):
            self.call("DELETE", f"/apis/kueue.x-k8s.io/v1beta2/{kind_}/{self.namespace}")
        self.call("DELETE", f"/api/v1/namespaces/{self.namespace}")

    def step(self, name="train", pipeline=None, **job):
        """Start a step's program; return the process and the name of its run."""
        given = {"launcher": "python", "kind": "Job", "pool": "cpu", "nodes": 1, "gpus_per_node": None, "after": []}
        sizes = {"cpus_per_node": 1, "memory_per_node": "1Gi", "priority": None, "restarts": 0}
        run = resolve(make_run(name, **{**given, **sizes, **job}))
        (made,) = steps([run])
        pipeline = pipeline or str(uuid.uuid4())
        plan = made.plan.replace('"nlp"', f'"{self.namespace}"').replace("/nlp/", f"/{self.namespace}/")
        command = [sys.executable, "-I", "-c", PROGRAM, plan, pipeline]
        process = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return process, f"{run.run.name[:-5]}{suffix(pipeline)}"

    def job(self, name):
        """Return a Job; raises Absent where it is not there."""
        return self.call("GET", f"/apis/batch/v1/namespaces/{self.namespace}/jobs/{name}")

    def finish(self, name, phase):
        """Have the pods of a Job end, as a kubelet would say."""
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        ended = {"phase": phase}
        if phase == "Failed":
            code = {"terminated": {"exitCode": 1}}
            ended["containerStatuses"] = [
                {"name": "trainer", "state": code, "image": "i", "imageID": "", "ready": False, "restartCount": 0}
            ]
        found = until(
            lambda: [
                item
                for item in self.call("GET", path)["items"]
                if item["metadata"]["labels"].get("batch.kubernetes.io/job-name") == name
            ]
        )
        for item in found:
            form = "application/merge-patch+json"
            self.call("PATCH", f"{path}/{item['metadata']['name']}/status", {"status": ended}, form)


def kind(name, called, spec):
    """Return an object of Kueue's."""
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": name, "metadata": {"name": called}, "spec": spec}


def until(question):
    """Return an answer as soon as there is one."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        try:
            if found := question():
                return found
        except Absent:
            pass
        time.sleep(0.2)
    raise AssertionError("the control plane did not answer in time")


@pytest.fixture(scope="module")
def control(tmp_path_factory):
    """A control plane that may be changed, or a loud skip."""
    if not os.environ.get("TRAINYARD_KUBECONFIG") or os.environ.get("TRAINYARD_THROWAWAY") != "1":
        pytest.skip("steps of pipelines on a real control plane: set TRAINYARD_KUBECONFIG and TRAINYARD_THROWAWAY=1")
    made = Control(tmp_path_factory.mktemp("account"))
    made.prepare()
    yield made
    made.remove()


def test_a_step_waits_for_its_run_and_ends_well_with_it(control):
    """The run goes through its queue; when its pod has succeeded, the step has too."""
    process, name = control.step()
    until(lambda: control.job(name)["spec"]["suspend"] is False)
    control.finish(name, "Succeeded")
    out, _ = process.communicate(timeout=WAIT)
    assert process.returncode == 0, out
    assert f"created Job {name}" in out
    assert f"Job {name} is done: Complete" in out


def test_a_step_fails_with_the_reason_of_its_run(control):
    """A run that fails for good fails its step, which says why."""
    process, name = control.step("fails")
    until(lambda: control.job(name)["spec"]["suspend"] is False)
    control.finish(name, "Failed")
    out, _ = process.communicate(timeout=WAIT)
    assert process.returncode == 1, out
    assert f"Job {name} has failed: Failed: BackoffLimitExceeded" in out


def test_a_step_that_is_told_to_end_takes_its_run_along(control):
    """Pipelines are cancelled by ending the pods of their steps; what they started goes with them."""
    process, name = control.step("cancelled", contents={"a.yaml": "b: c"}, files=[FILE])
    until(lambda: control.job(name)["metadata"]["uid"])
    uid = control.job(name)["metadata"]["uid"]
    path = f"/api/v1/namespaces/{control.namespace}/configmaps/{name}"
    owners = until(lambda: control.call("GET", path)["metadata"].get("ownerReferences"))
    assert [owner["uid"] for owner in owners] == [uid]
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=WAIT)
    assert process.returncode == 143, out
    assert f"deleted Job {name}" in out
    until(lambda: not exists(control, name))


FILE = {"source": "a.yaml", "mountPath": "/etc/a"}


def exists(control, name):
    """Whether a Job is there."""
    try:
        control.job(name)
    except Absent:
        return False
    return True


def test_a_step_that_is_tried_again_goes_on_with_its_run(control):
    """A step's pod that is lost, with the run left behind, finds it again; another pipeline's run makes its own."""
    pipeline = str(uuid.uuid4())
    first, name = control.step("again", pipeline=pipeline)
    until(lambda: control.job(name)["spec"]["suspend"] is False)
    first.kill()
    first.communicate()
    second, same = control.step("again", pipeline=pipeline)
    other, another = control.step("again")
    assert (same == name, another == name) == (True, False)
    until(lambda: control.job(another))
    control.finish(name, "Succeeded")
    out, _ = second.communicate(timeout=WAIT)
    assert second.returncode == 0, out
    assert f"found Job {name} of an earlier try" in out
    other.terminate()
    other.communicate(timeout=WAIT)


def test_a_run_that_somebody_deletes_fails_its_step(control):
    """A step does not wait for what is not there any more."""
    process, name = control.step("deleted")
    until(lambda: control.job(name)["metadata"]["uid"])
    control.call("DELETE", f"/apis/batch/v1/namespaces/{control.namespace}/jobs/{name}")
    out, _ = process.communicate(timeout=WAIT)
    assert process.returncode == 1, out
    assert "somebody deleted it" in out


def test_a_step_may_do_nothing_else(control):
    """Its account neither lists secrets nor changes a run."""
    for verb, resource, group in (("list", "secrets", ""), ("patch", "jobs", "batch"), ("create", "pods", "")):
        attributes = {"namespace": control.namespace, "verb": verb, "resource": resource, "group": group}
        user = f"system:serviceaccount:{control.namespace}:pipeline-runner"
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": user, "resourceAttributes": attributes},
        }
        answer = control.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", body)
        assert not answer["status"]["allowed"], attributes

"""A real Argo CD on a running control plane: its repo server and application controller, no UI."""

import json
import os
import time
from pathlib import Path

import yaml

from . import paths
from .api import Client, UnknownKindError
from .building import WRAPPER
from .components import ARGOCD, LOCAL
from .procs import Processes, free_ports

NAMESPACE = "argocd"
IN_CLUSTER = "https://kubernetes.default.svc"
GROUP = "argoproj.io/v1alpha1"
LABELS = {"app.kubernetes.io/part-of": "argocd"}
REPO_SERVER = {"3.6.1": ("--client-ca-path=",)}
"""What a release's repo server needs more: from 3.6 on it does not start without TLS beside its default for clients."""
PROCESSES = ("argocd-redis", "argocd-repo-server", "argocd-application-controller")


def client_of(run: Path) -> Client:
    """Return a client of a cluster that knows its kinds."""
    client = Client(run / "kubeconfig")
    client.discover()
    return client


def start(run: Path, resync: int, release: str = ARGOCD) -> None:
    """CRDs, an open default project, configuration, and the three processes."""
    procs, client = Processes(run), client_of(run)
    procs.stop(PROCESSES)
    binary = paths.BIN / f"argocd-{release}"
    if not binary.exists():
        raise SystemExit(f"Argo CD {release} is not built: tools/oracles/cluster/build argocd argocd-new")
    for file in sorted((paths.MANIFESTS / f"argocd-{release}/manifests/crds").glob("*-crd.yaml")):
        client.apply(yaml.safe_load(file.read_text())).must()
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}).must()
    for doc in configuration():
        apply(client, doc)
    redis, repo, repo_metrics, metrics = free_ports(4)
    kubeconfig = str(run / "kubeconfig")
    common = {
        "KUBECONFIG": kubeconfig,
        "ARGOCD_GPG_ENABLED": "false",
        "ARGOCD_FAKE_IN_CLUSTER": "true",
        "TMPDIR": str(run),
        "GOMAXPROCS": "2",
        "PATH": f"{wrapper(release).parent}:{os.environ['PATH']}",
    }
    procs.start("argocd-redis", [str(paths.BIN / "argocd-redis"), f"{LOCAL}:{redis}"])
    procs.start(
        "argocd-repo-server",
        [
            str(binary),
            f"--address={LOCAL}",
            f"--port={repo}",
            f"--metrics-address={LOCAL}",
            f"--metrics-port={repo_metrics}",
            f"--redis={LOCAL}:{redis}",
            "--disable-tls",
            *REPO_SERVER.get(release, ()),
            "--loglevel=warn",
        ],
        {**common, "ARGOCD_BINARY_NAME": "argocd-repo-server", "ARGOCD_RECONCILIATION_TIMEOUT": f"{resync}s"},
        health=f"http://{LOCAL}:{repo_metrics}/healthz",
    )
    procs.wait("argocd-repo-server", 60)
    procs.start(
        "argocd-application-controller",
        [
            str(binary),
            f"--kubeconfig={kubeconfig}",
            f"--namespace={NAMESPACE}",
            f"--repo-server={LOCAL}:{repo}",
            "--repo-server-plaintext",
            f"--redis={LOCAL}:{redis}",
            f"--app-resync={resync}",
            "--app-resync-jitter=0",
            f"--metrics-port={metrics}",
            "--loglevel=info",
        ],
        {**common, "ARGOCD_BINARY_NAME": "argocd-application-controller"},
        health=f"http://{LOCAL}:{metrics}/healthz",
    )
    procs.wait("argocd-application-controller", 60)


def wrapper(release: str) -> Path:
    """Return the script by which the repo server looks at signatures of commits, which it may run."""
    script = paths.MANIFESTS / f"argocd-{release}" / WRAPPER
    script.chmod(0o755)
    return script


def stop(run: Path) -> int:
    """Stop Argo CD's processes; return how many ran."""
    return Processes(run).stop(PROCESSES)


def configuration():
    """Yield Argo CD's settings, and a default project that may do everything."""
    yield {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "data": {"timeout.reconciliation": "10s"},
        "metadata": {"name": "argocd-cm", "namespace": NAMESPACE, "labels": LABELS},
    }
    yield {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "data": {},
        "metadata": {"name": "argocd-rbac-cm", "namespace": NAMESPACE, "labels": LABELS},
    }
    yield {
        "apiVersion": "v1",
        "kind": "Secret",
        "stringData": {"server.secretkey": "0" * 32},
        "metadata": {"name": "argocd-secret", "namespace": NAMESPACE, "labels": LABELS},
    }
    yield {
        "apiVersion": GROUP,
        "kind": "AppProject",
        "metadata": {"name": "default", "namespace": NAMESPACE},
        "spec": {
            "sourceRepos": ["*"],
            "destinations": [{"server": "*", "namespace": "*"}],
            "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
        },
    }


def apply(client: Client, doc: dict, seconds=20) -> None:
    """Apply, while a CRD just installed comes to be served."""
    end = time.monotonic() + seconds
    while True:
        try:
            client.apply(doc).must()
        except (RuntimeError, OSError, UnknownKindError):
            if time.monotonic() > end:
                raise
            time.sleep(0.5)
            client.discover()
        else:
            return


def localised(doc: dict, repo: str) -> dict:
    """The Application with its repository, cluster and projects turned to what is here."""
    doc = json.loads(json.dumps(doc))
    doc["metadata"]["namespace"] = NAMESPACE
    spec = doc.get("spec", {})
    if doc["kind"] == "Application":
        sources = spec.get("sources") or ([spec["source"]] if "source" in spec else [])
        for source in sources:
            if "chart" not in source and repo:
                source["repoURL"], source["targetRevision"] = repo, "HEAD"
        spec["destination"] = {
            **{k: v for k, v in spec.get("destination", {}).items() if k == "namespace"},
            "server": IN_CLUSTER,
        }
    elif doc["kind"] == "AppProject":
        spec["sourceRepos"] = ["*"]
        spec["destinations"] = [
            {**{k: v for k, v in d.items() if k == "namespace"}, "server": IN_CLUSTER}
            for d in spec.get("destinations", [])
        ]
    return doc


def applications(client: Client) -> list[dict]:
    """Return all Applications."""
    return client.get(f"/apis/{GROUP}/namespaces/{NAMESPACE}/applications").must()["items"]


def refresh(client: Client, name: str) -> None:
    """Ask Argo CD to compare an Application now."""
    client.request(
        "PATCH",
        f"/apis/{GROUP}/namespaces/{NAMESPACE}/applications/{name}",
        {"metadata": {"annotations": {"argocd.argoproj.io/refresh": "normal"}}},
        "application/merge-patch+json",
    ).must()


def settled(app: dict) -> bool:
    """Compared after the refresh asked for, and no operation runs."""
    status = app.get("status", {})
    return (
        "argocd.argoproj.io/refresh" not in app["metadata"].get("annotations", {})
        and (status.get("operationState") or {}).get("phase") != "Running"
        and "operation" not in app
    )


def summary(app: dict) -> dict:
    """Return Argo CD's status of an Application, in few fields."""
    status = app.get("status", {})
    operation = status.get("operationState") or {}
    return {
        "name": app["metadata"]["name"],
        "sync": status.get("sync", {}).get("status"),
        "health": (status.get("health") or {}).get("status"),
        "operation": operation.get("phase"),
        "message": operation.get("message"),
        "conditions": [c["message"] for c in status.get("conditions", [])],
        "resources": [
            {k: r.get(k) for k in ("kind", "namespace", "name", "status")}
            | {"health": (r.get("health") or {}).get("status")}
            for r in status.get("resources", [])
        ],
    }

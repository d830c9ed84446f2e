"""Start and stop a control plane: etcd, kube-apiserver with CRDs, controllers, kube-scheduler, KWOK, nodes."""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import yaml

from . import manifests, paths
from .api import Client
from .certs import Authority, rsa_key
from .components import KUBERNETES_DEFAULT, KWOK, LOCAL
from .pools import expand_nodes
from .procs import Processes, free_ports

CONTROLLERS = ("kube-controller-manager", "kube-scheduler")
KEPT = 8  # copies of etcd's data with CRDs in it, 90 MB each
SILENT = "oracle.trainyard.dev/silent"
"""Label of a node whose kubelet is gone: it renews no lease, and its pods neither start nor end."""

KWOK_STAGES = (
    "node/fast/node-initialize.yaml",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "pod/fast/pod-ready.yaml",
    "pod/fast/pod-delete.yaml",
)

POD_ENDS = """
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-end}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: Exists}
    - {key: .status.phase, operator: In, values: [Pending, Running]}
  next:
    statusTemplate: |
      {{ $now := Now }}
      phase: Failed
      conditions:
      - {type: Ready, status: "False", reason: PodFailed, lastTransitionTime: {{ $now | Quote }}}
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        imageID: ""
        ready: false
        restartCount: 0
        state: {terminated: {exitCode: 143, reason: Error, finishedAt: {{ $now | Quote }}}}
      {{ end }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-delete}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: Exists}
    - {key: .status.phase, operator: In, values: [Failed, Succeeded]}
  next: {delete: true}
"""
"""Stages in the place of pod-delete by which a deleted pod fails before it goes, as a kubelet has it."""


def write_kubeconfig(path: Path, server: str, ca: Path, cert: Path, key: Path) -> Path:
    """Write the kubeconfig of one user."""
    path.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "oracle",
                "clusters": [{"name": "oracle", "cluster": {"server": server, "certificate-authority": str(ca)}}],
                "users": [{"name": "oracle", "user": {"client-certificate": str(cert), "client-key": str(key)}}],
                "contexts": [{"name": "oracle", "context": {"cluster": "oracle", "user": "oracle"}}],
            }
        )
    )
    path.chmod(0o600)
    return path


class Cluster:
    """One control plane on loopback, in a folder of its own."""

    def __init__(self, run: Path, kubernetes=KUBERNETES_DEFAULT, verbose=True):
        self.run, self.kubernetes, self.verbose = run, kubernetes, verbose
        self.procs = Processes(run)
        self.begin = time.monotonic()
        self.pki = run / "pki"

    def say(self, text: str) -> None:
        """Print a line with the seconds since the start."""
        if self.verbose:
            print(f"{time.monotonic() - self.begin:6.1f}s  {text}", flush=True)

    def bin(self, name: str) -> str:
        """Return the path of a program, or stop where it is not built."""
        path = paths.BIN / name
        if not path.exists():
            raise SystemExit(f"{path.name} is not built: build it first: make oracles O=cluster")
        return str(path)

    def reset(self, keep=False) -> None:
        """Stop what an earlier run left, and forget its data."""
        left = self.procs.stop() + Processes(self.run / "operators").stop()
        if left:
            self.say(f"stopped {left} processes of an earlier run")
        if not keep:
            shutil.rmtree(self.run, ignore_errors=True)
        self.run.mkdir(parents=True, exist_ok=True)
        self.procs = Processes(self.run)

    def user(self, name: str, common: str, groups=()) -> Path:
        """Return the kubeconfig of a new user."""
        crt, key = self.authority.issue(self.pki / name, common, groups)
        return write_kubeconfig(self.run / f"{name}.kubeconfig", self.server, self.authority.cert_path, crt, key)

    def prepare(self, projects, line: str, operators, mpijob: str, api_flags=()) -> None:
        """Certificates, webhook ports, and the CRDs, baked once into a copy of etcd's data."""
        self.authority = Authority(self.pki)
        self.api_flags, self.webhook_ports = (
            list(api_flags),
            dict(zip(operators, free_ports(len(operators)), strict=True)),
        )
        rsa_key(self.pki / "sa.key")
        self.docs, self.conversions = manifests.crds(projects, line, self.webhook_ports, self.authority.pem, mpijob)
        text = json.dumps([self.kubernetes, self.api_flags, self.docs], sort_keys=True)
        self.template = paths.CACHE / "etcd" / hashlib.sha256(text.encode()).hexdigest()[:20]
        if self.template.exists():
            os.utime(self.template)
        elif self.docs:
            self.bake()

    def bake(self) -> None:
        """CRDs cost the server half a second each: install them once, keep etcd's data."""
        client = self.api_server()
        manifests.install_crds(client, self.docs)
        self.served(client, 180)
        self.procs.stop()
        self.template.parent.mkdir(parents=True, exist_ok=True)
        part = self.template.with_suffix(f".{os.getpid()}")
        shutil.copytree(self.run / "etcd" / "data", part)
        try:
            part.replace(self.template)
        except OSError:  # another `up` was quicker
            shutil.rmtree(part)
        kept = sorted(self.template.parent.iterdir(), key=lambda p: p.stat().st_mtime)
        for old in kept[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(self.run / "etcd")
        self.say(f"{len(self.docs)} CRDs kept for the next start")

    def served(self, client: Client, seconds: float) -> None:
        """Wait until the server serves every CRD."""
        wanted = {(d["spec"]["group"], d["spec"]["names"]["kind"]) for d in self.docs}
        end = time.monotonic() + seconds
        while True:
            client.discover()
            missing = wanted - {(gv.rpartition("/")[0], kind) for gv, kind in client.kinds}
            if not missing:
                return
            if time.monotonic() > end:
                raise TimeoutError(f"not served: {sorted(missing)[:5]}")
            time.sleep(0.1)

    def api_server(self, port=0) -> Client:
        """Etcd and kube-apiserver, with the admission plugins of a default cluster."""
        ports = free_ports(3)
        api_port = port or ports[2]
        self.server = f"https://{LOCAL}:{api_port}"
        crt, key = self.authority.issue(
            self.pki / "apiserver",
            "kube-apiserver",
            dns=("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"),
        )
        admin = self.authority.issue(self.pki / "admin", "kubernetes-admin", ["system:masters"])
        kubeconfig = write_kubeconfig(self.run / "kubeconfig", self.server, self.authority.cert_path, *admin)
        etcd, peer = f"http://{LOCAL}:{ports[0]}", f"http://{LOCAL}:{ports[1]}"
        self.procs.state.update(kubernetes=self.kubernetes, server=self.server)
        data = self.run / "etcd" / "data"
        if self.template.exists():
            shutil.copytree(self.template, data)
        self.procs.start(
            "etcd",
            [
                self.bin("etcd"),
                "--data-dir",
                str(data),
                "--unsafe-no-fsync",
                "--log-level=warn",
                f"--listen-client-urls={etcd}",
                f"--advertise-client-urls={etcd}",
                f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=default={peer}",
                "--force-new-cluster=" + str(self.template.exists()).lower(),
            ],
            health=f"{etcd}/health",
        )
        self.procs.wait("etcd", 30)
        sa = str(self.pki / "sa.key")
        self.procs.start(
            "kube-apiserver",
            [
                self.kube("kube-apiserver"),
                f"--etcd-servers={etcd}",
                f"--secure-port={api_port}",
                f"--bind-address={LOCAL}",
                f"--advertise-address={LOCAL}",
                "--endpoint-reconciler-type=none",
                f"--tls-cert-file={crt}",
                f"--tls-private-key-file={key}",
                f"--client-ca-file={self.authority.cert_path}",
                f"--service-account-key-file={sa}",
                f"--service-account-signing-key-file={sa}",
                "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
                "--service-cluster-ip-range=10.96.0.0/16",
                "--authorization-mode=Node,RBAC",
                "--enable-admission-plugins=NodeRestriction",
                "--allow-privileged=true",
                "--enable-bootstrap-token-auth=true",
                "--profiling=false",
                f"--requestheader-client-ca-file={self.authority.cert_path}",
                "--requestheader-allowed-names=front-proxy-client",
                "--requestheader-username-headers=X-Remote-User",
                "--requestheader-group-headers=X-Remote-Group",
                "--requestheader-extra-headers-prefix=X-Remote-Extra-",
                *self.api_flags,
            ],
        )
        client = Client(kubeconfig)
        client.ready(90)
        return client

    def control_plane(self, controllers: Sequence[str] = CONTROLLERS, port: int = 0) -> Client:
        """Start etcd, kube-apiserver and these controllers, and wait until every CRD is served."""
        client = self.api_server(port)
        self.say(f"kube-apiserver {self.kubernetes} at {self.server}")
        for name in controllers:
            self.controller(name)
        if "kube-controller-manager" not in controllers:
            self.service_account(client, "default")
        self.served(client, 60)
        manifests.install_conversions(client, self.conversions)
        self.say(f"{len(self.docs)} CRDs served, {len(self.conversions)} converted by webhook")
        return client

    def kube(self, name: str) -> str:
        """Return the path of a program of this release of Kubernetes."""
        return self.bin(f"kubernetes-{self.kubernetes}/{name}")

    @staticmethod
    def service_account(client: Client, namespace: str) -> None:
        """What the controller manager does for a new namespace, when there is none."""
        client.create(
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": namespace}}
        )

    def controller(self, name: str) -> None:
        """Start kube-controller-manager or kube-scheduler, with the feature gates of the API server."""
        (port,) = free_ports(1)
        config = self.user(name, f"system:{name}")
        extra = {
            "kube-controller-manager": [
                f"--service-account-private-key-file={self.pki / 'sa.key'}",
                f"--root-ca-file={self.authority.cert_path}",
                "--use-service-account-credentials=true",
                "--controllers=*,bootstrapsigner,tokencleaner",
            ]
        }
        own = (f"--{flag}={config}" for flag in ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"))
        gates = (flag for flag in self.api_flags if flag.startswith("--feature-gates="))
        rest = (*gates, f"--bind-address={LOCAL}", f"--secure-port={port}", "--leader-elect=false", "--profiling=false")
        self.procs.start(name, [self.kube(name), *own, *rest, *extra.get(name, ())])

    def kwok(self, *, end_pods: bool = False) -> None:
        """Start KWOK, which keeps nodes ready and has their pods run; a node with the label SILENT is left alone."""
        (port,) = free_ports(1)
        config = self.user("kwok", "system:kwok", ["system:masters"])
        stages = paths.MANIFESTS / f"kwok-{KWOK}" / "kustomize/stage"
        file = self.run / "kwok-stages.yaml"  # without pod-complete: pods of Jobs stay Running
        texts = [(stages / s).read_text() for s in KWOK_STAGES]
        file.write_text("\n---\n".join([*texts[:-1], POD_ENDS] if end_pods else texts))
        self.procs.start(
            "kwok",
            [
                self.bin(f"kwok-{KWOK}"),
                f"--kubeconfig={config}",
                f"--config={file}",
                f"--manage-nodes-with-label-selector=!{SILENT}",
                f"--server-address={LOCAL}:{port}",
                f"--node-ip={LOCAL}",
                "--cidr=10.128.0.0/12",
                "--node-lease-duration-seconds=40",
            ],
            health=f"http://{LOCAL}:{port}/healthz",
        )

    def nodes(self, client: Client, file: Path) -> None:
        """Make the nodes of a file of pools."""
        docs = list(expand_nodes(yaml.safe_load(file.read_text())))
        for doc in docs:
            client.apply(doc).must()
        for doc in docs:
            status = {"status": {"capacity": doc["status"]["capacity"], "allocatable": doc["status"]["allocatable"]}}
            client.request(
                "PATCH", f"/api/v1/nodes/{doc['metadata']['name']}/status", status, "application/merge-patch+json"
            ).must()
        self.say(f"{len(docs)} KWOK nodes")

"""Start operators: certificates, configuration, processes, webhooks, and what an installation has besides."""

import base64
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from . import manifests
from .api import Client
from .components import LOCAL, OPERATORS, V1_SCHEMES, Operator, binary
from .procs import free_ports

if TYPE_CHECKING:
    from .cluster import Cluster

KEPT = ("apiVersion", "kind", "health", "metrics", "webhook", "leaderElection", "clientConnection", "controller")
"""Fields of Kueue's configuration that tie it to this machine, or only say how fast it may go."""

OWN_CERTIFICATES = ("internalCertManagement", "namespace")
"""Fields that would have Kueue look for its certificates elsewhere."""


def start_operators(cluster: "Cluster", client: Client, names: Sequence[str], mpijob: str) -> None:
    """Start these operators, install their webhooks when they are ready, and what each installation has besides."""
    for name in names:
        start_operator(cluster, client, name, mpijob)
    for name in names:
        if OPERATORS[name].hooks_first:
            install_webhooks(cluster, client, name)
    for name in names:
        cluster.procs.wait(name, 120)
        cluster.say(f"{name} {OPERATORS[name].version} is ready")
    for name in names:
        if not OPERATORS[name].hooks_first:
            install_webhooks(cluster, client, name)
    for name in names:
        objects = manifests.installed_objects(name)
        for doc in objects:
            apply_soon(client, doc)
        if objects:
            cluster.say(f"{name}: {len(objects)} objects of its installation")


def install_webhooks(cluster: "Cluster", client: Client, name: str) -> None:
    """Create the operator's webhook configurations, which call its process on loopback."""
    for doc in manifests.webhooks(name, cluster.webhook_ports[name], cluster.authority.pem):
        client.create(doc).must()


def apply_soon(client: Client, doc: dict[str, Any], seconds: float = 20) -> None:
    """Apply an object, and try again while a webhook server or a namespace is still coming up."""
    end = time.monotonic() + seconds
    while True:
        answer = client.apply(doc)
        if answer.ok or time.monotonic() > end:
            answer.must()
            return
        time.sleep(0.3)


def start_operator(cluster: "Cluster", client: Client, name: str, mpijob: str) -> None:
    """Start one operator's processes under its service account's name."""
    op, home = OPERATORS[name], cluster.run / name
    client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": op.namespace}})
    certs = home / "k8s-webhook-server" / "serving-certs"  # the default place, under TMPDIR
    (health,) = free_ports(1)
    values = {
        "webhook": cluster.webhook_ports[name],
        "health": f"{LOCAL}:{health}",
        "certs": str(certs),
        "config": str(home / "config.yaml"),
        "ca": str(cluster.authority.cert_path),
    }
    if op.service:
        serve(cluster, client, op, certs)
    home.mkdir(parents=True, exist_ok=True)
    if op.config:
        (home / "config.yaml").write_text(yaml.safe_dump(fill(op.config, values)))
    accounts = f"system:serviceaccounts:{op.namespace}"
    account = f"system:serviceaccount:{op.namespace}:{op.account}"
    config = cluster.user(name, account, ["system:masters", "system:serviceaccounts", accounts])
    values["kubeconfig"] = str(config)
    schemes = [*V1_SCHEMES, *(["mpijob"] if mpijob == "v1" else [])]
    args: list[str] = []
    for arg in op.args:
        args += [f"--enable-scheme={s}" for s in schemes] if arg == "{schemes}" else [arg.format(**values)]
    env = {
        "KUBECONFIG": str(config),
        "TMPDIR": str(home),
        "GOMAXPROCS": "2",
        "POD_NAMESPACE": op.namespace,
        "DEBUG_SOCKET_DIR": str(home),
    }
    cluster.procs.start(name, [cluster.bin(binary(name)), *args], env, health=op.ready.format(**values))
    for process, _, extra in op.also:
        program = cluster.bin(f"{process}-{op.version}")
        cluster.procs.start(process, [program, *(a.format(**values) for a in extra)], env)


def serve(cluster: "Cluster", client: Client, op: Operator, certs: Path) -> None:
    """Issue the certificate of an operator's webhooks; Kueue's rotation finds it in a Secret and leaves it alone."""
    host = f"{op.service}.{op.namespace}.svc"
    certificate, key = cluster.authority.issue(certs / "tls", host, dns=(host,))
    if not op.secret:
        return
    data = {
        "ca.crt": cluster.authority.cert_path,
        "ca.key": cluster.authority.key_path,
        "tls.crt": certificate,
        "tls.key": key,
    }
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": op.secret, "namespace": op.namespace},
        "data": {k: base64.b64encode(v.read_bytes()).decode() for k, v in data.items()},
    }
    client.create(secret).must()


def fill(value: Any, values: Mapping[str, Any]) -> Any:
    """Return a configuration with every `{name}` replaced by its value."""
    if isinstance(value, dict):
        return {k: fill(v, values) for k, v in value.items()}
    if isinstance(value, list):
        return [fill(v, values) for v in value]
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        return values[value[1:-1]]
    return value


def merged_configuration(first: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return Kueue's configuration as given, with the fields of the first that tie it to this machine.

    Its gates are those given and the first's, which win: the visibility server listens on every interface.
    """
    kept = {key: first[key] for key in KEPT if key in first}
    theirs = {key: value for key, value in given.items() if key not in (*KEPT, *OWN_CERTIFICATES)}
    gates = {**(given.get("featureGates") or {}), **(first.get("featureGates") or {})}
    return {"integrations": first["integrations"], **theirs, **kept, "featureGates": gates}

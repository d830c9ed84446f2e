"""Start a cluster on which nothing is installed: its operators come by Argo CD, from their charts.

KWOK says that pods run. Stand-ins do what kubelets and the service network do for operators: where the Deployment of
one has a running pod, its program is started, with the configuration and the rights that the chart gives it.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from . import argocd, paths
from .api import Client
from .cluster import CONTROLLERS, Cluster
from .components import ARGOCD, ARGOCDS, KUBERNETES, KUBERNETES_DEFAULT, LOCAL
from .procs import free_ports
from .programs import PROGRAMS

POOLS = {
    "system": {"nodes": 2, "resources": {"cpu": 16, "memory": "64Gi", "ephemeral-storage": "200Gi"}},
    "cpu": {
        "nodes": 4,
        "resources": {"cpu": 16, "memory": "64Gi", "ephemeral-storage": "200Gi"},
        "labels": {"trainyard.dev/pool": "cpu"},
    },
}
"""Nodes for operators, and a pool of the cluster that is rehearsed."""

PROXY = "/var/tmp/trainyard-{name}.sock"
"""Where the server finds the service network; the path of a socket has 107 letters at most."""


def main() -> int:
    """Start the cluster with Argo CD; return 1 where a process does not come up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="default", help="several clusters side by side, each with a name")
    parser.add_argument("--kubernetes", default=KUBERNETES_DEFAULT, choices=KUBERNETES)
    parser.add_argument("--argocd", default=ARGOCD, choices=ARGOCDS)
    parser.add_argument("--resync", type=int, default=10, help="seconds between Argo CD's looks at Git")
    parser.add_argument("--api-flag", action="append", default=[], help="a further flag of kube-apiserver, as of `up`")
    args = parser.parse_args()
    cluster = Cluster(paths.run_dir(args.name), args.kubernetes)
    cluster.reset()
    try:
        start(cluster, args.name, args.api_flag)
        argocd.start(cluster.run, args.resync, args.argocd)
    except BaseException as e:
        cluster.procs.stop()
        if not isinstance(e, (RuntimeError, TimeoutError, OSError)):
            raise
        print(f"empty failed: {e}", file=sys.stderr)
        return 1
    cluster.say(f"up, with Argo CD {args.argocd}; export KUBECONFIG={cluster.run}/kubeconfig")
    return 0


def start(cluster: Cluster, name: str, api_flags: Sequence[str] = ()) -> None:
    """Start the control plane, KWOK with nodes, and the stand-ins."""
    cluster.prepare([], "newest", [], "v2beta1", api_flags)
    cluster.api_flags += [*network_flags(cluster.run, name), *front_proxy_flags(cluster)]
    client = cluster.control_plane(CONTROLLERS)
    cluster.kwok()
    for process in (*CONTROLLERS, "kwok"):
        cluster.procs.wait(process, 60)
    make_nodes(cluster, client)
    values = standin_settings(cluster, name)
    (cluster.run / "standins.yaml").write_text(yaml.safe_dump(values))
    program = [sys.executable, "-m", "oracle.standins", str(cluster.run)]
    cluster.procs.start("standins", program, {"PYTHONPATH": str(paths.HERE)})
    time.sleep(1)
    cluster.procs.wait("standins", 10)


def network_flags(run: Path, name: str) -> list[str]:
    """Return the flags by which the server calls webhooks through our service network."""
    connection = {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": PROXY.format(name=name)}}}
    file = run / "egress.yaml"
    head = {"apiVersion": "apiserver.k8s.io/v1beta1", "kind": "EgressSelectorConfiguration"}
    file.write_text(yaml.safe_dump(head | {"egressSelections": [{"name": "cluster", "connection": connection}]}))
    return [f"--egress-selector-config-file={file}"]


def front_proxy_flags(cluster: Cluster) -> list[str]:
    """Return the flags by which the server shows aggregated servers who asks."""
    certificate, key = cluster.authority.issue(cluster.pki / "front-proxy", "front-proxy-client")
    return [f"--proxy-client-cert-file={certificate}", f"--proxy-client-key-file={key}"]


def make_nodes(cluster: Cluster, client: Client) -> None:
    """Make the nodes of all pools."""
    pools = [{"name": name, **pool} for name, pool in POOLS.items()]
    file = cluster.run / "nodes.yaml"
    file.write_text(yaml.safe_dump({"pools": pools}))
    cluster.nodes(client, file)


def standin_settings(cluster: Cluster, name: str) -> Mapping[str, Any]:
    """Return the server, the socket and four ports of each program, for the stand-ins."""
    ports = iter(free_ports(4 * len(PROGRAMS)))
    return {
        "server": cluster.server,
        "socket": PROXY.format(name=name),
        "listen": LOCAL,
        "ports": {
            operator: {use: next(ports) for use in ("webhook", "visibility", "health", "metrics")}
            for operator in PROGRAMS
        },
    }

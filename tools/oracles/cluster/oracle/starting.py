"""Start a control plane and operators on loopback. Stops and replaces what ran before."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from . import manifests, paths
from .api import Client
from .cluster import CONTROLLERS, Cluster
from .components import KUBERNETES, KUBERNETES_DEFAULT, OPERATORS
from .operators import start_operators

ONLY = {"apiserver": (), "scheduler": ("kube-scheduler",)}
"""Which controllers run where nothing else does."""


def main() -> int:
    """Start a cluster; return 1 where a process does not come up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only",
        choices=ONLY,
        help="etcd and kube-apiserver, with kube-scheduler or without: no controllers, no operators",
    )
    parser.add_argument("--without-kwok", action="store_true", help="no KWOK and no nodes: whoever asks makes its own")
    parser.add_argument("--end-pods", action="store_true", help="pods that are deleted fail first, as on a kubelet")
    parser.add_argument("--operators", default="", metavar="A,B", help=f"all, or of {', '.join(OPERATORS)}")
    parser.add_argument("--kubernetes", default=KUBERNETES_DEFAULT, choices=KUBERNETES)
    parser.add_argument(
        "--crds", default="training", metavar="A,B", help="training (default), all, none, or names of projects"
    )
    parser.add_argument(
        "--line",
        default="newest",
        choices=["newest", "previous"],
        help="release line of the CRDs; a running operator always brings its own",
    )
    parser.add_argument(
        "--mpijob",
        default="v2beta1",
        choices=["v2beta1", "v1"],
        help="whose MPIJob CRD: the MPI operator's (default) or the training operator's",
    )
    parser.add_argument("--nodes", type=Path, default=paths.HERE / "nodes.yaml", help="KWOK nodes; 'none' for none")
    parser.add_argument("--name", default="default", help="several clusters side by side, each with a name")
    parser.add_argument("--port", type=int, default=0, help="of kube-apiserver; a free one by default")
    parser.add_argument(
        "--api-flag",
        action="append",
        default=[],
        metavar="FLAG",
        help="a further flag of kube-apiserver, as --api-flag=--runtime-config=api/all=true",
    )
    args = parser.parse_args()

    operators = list(OPERATORS) if args.operators == "all" else [o for o in args.operators.split(",") if o]
    for name in operators:
        if name not in OPERATORS:
            parser.error(f"no operator {name}: there are {', '.join(OPERATORS)}")
    if args.mpijob == "v1" and "mpi-operator" in operators:
        operators.remove("mpi-operator")
    if args.only and operators:
        parser.error(f"--only {args.only} has no operators")
    projects = manifests.projects(args.crds, args.line)
    cluster = Cluster(paths.run_dir(args.name), args.kubernetes)
    cluster.reset()
    try:
        cluster.prepare([*dict.fromkeys([*projects, *operators])], args.line, operators, args.mpijob, args.api_flag)
        client = cluster.control_plane(ONLY.get(args.only, CONTROLLERS), port=args.port)
        if not args.only:
            fill_cluster(cluster, client, operators, args)
    except BaseException as e:
        cluster.procs.stop()
        if not isinstance(e, (RuntimeError, TimeoutError, OSError)):
            raise
        print(f"up failed: {e}", file=sys.stderr)
        return 1
    cluster.procs.state["seconds"] = round(time.monotonic() - cluster.begin, 1)
    cluster.procs.save()
    cluster.say(f"up; export KUBECONFIG={cluster.run}/kubeconfig")
    return 0


def fill_cluster(cluster: Cluster, client: Client, operators: Sequence[str], args: argparse.Namespace) -> None:
    """Start KWOK and operators, wait for all processes, and make nodes."""
    kwok = () if args.without_kwok else ("kwok",)
    if kwok:
        cluster.kwok(end_pods=args.end_pods)
    start_operators(cluster, client, operators, args.mpijob)
    for name in (*CONTROLLERS, *kwok):
        cluster.procs.wait(name, 30)
    if kwok and str(args.nodes) != "none":
        cluster.nodes(client, args.nodes)

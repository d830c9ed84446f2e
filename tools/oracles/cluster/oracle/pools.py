"""Node objects for KWOK, from a short list of pools (`nodes.yaml`)."""

from collections.abc import Iterator, Mapping
from typing import Any

Object = dict[str, Any]


def expand_nodes(config: Mapping[str, Any]) -> Iterator[Object]:
    """Yield the nodes of each pool: blocks of racks of nodes, or a plain count."""
    for pool in config["pools"]:
        if "blocks" not in pool:
            for i in range(pool["nodes"]):
                yield node(pool, f"{pool['name']}-{i}", {})
            continue
        for block in range(pool["blocks"]):
            for rack in range(pool.get("racks", 1)):
                stem = f"{pool['name']}-b{block}"
                labels = {config["blockLabel"]: stem, config["rackLabel"]: f"{stem}-r{rack}"}
                for i in range(pool["nodes"]):
                    yield node(pool, f"{stem}-r{rack}-n{i}", labels)


def node(pool: Mapping[str, Any], name: str, labels: Mapping[str, str]) -> Object:
    """Return one node of a pool, which KWOK keeps ready."""
    own = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "type": "kwok",
        **(pool.get("labels") or {}),
        **labels,
    }
    resources = {key: str(value) for key, value in {"pods": 110, **pool["resources"]}.items()}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": own, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "spec": {"taints": pool.get("taints") or []},
        "status": {"capacity": resources, "allocatable": resources},
    }

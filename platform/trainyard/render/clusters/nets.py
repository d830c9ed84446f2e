"""A team's network: ranks talk to each other, nobody else talks to them, and rails of the fabric are at hand."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator
from typing import Any

from trainyard.base.labels import NAMESPACE, NETWORK_RESOURCE, TEAM
from trainyard.render.clusters import ceph_buckets, monitors
from trainyard.render.kinds import available
from trainyard.render.parts import nim, prometheus, tracking
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.fabrics.devices import SHARED, resource
from trainyard.render.sizing.fabrics.plan import by_nv_ipam, is_routed, link, networks, pools, subnets, teams
from trainyard.render.sizing.fabrics.rails import one_for_all
from trainyard.specs import Cluster, Fabric, Team
from trainyard.specs.accounts import bucket_account
from trainyard.specs.models.team import Egress
from trainyard.specs.releases import release

LINK_LOCAL = "169.254.0.0/16"
"""Where clouds keep a node's credentials, and node-local DNS listens."""

RESOLVERS = ("kube-system", "openshift-dns")
"""Namespaces of DNS servers; the second is OpenShift's (openshift/cluster-dns-operator)."""

QUERIES = ("53", "53/UDP")
"""What names are asked at."""

LISTENING = (*QUERIES, "5353", "5353/UDP", "8053", "8053/UDP")
"""Ports of DNS pods, which a policy sees once a Service's address is translated.

CoreDNS mostly has 53, OpenShift's 5353 (openshift/cluster-dns-operator pkg/manifests/assets/dns/daemonset.yaml),
Gardener's 8053 (gardener/gardener pkg/component/networking/coredns/constants/constants.go).
"""


def policies(cluster_name: str, cluster: Cluster, name: str, team: Team) -> Iterator[Resource]:
    """Yield policies for all pods of the namespace, since NCCL, Gloo and rendezvous use any port.

    `ranks`: every pod of the namespace may reach every other, and nobody else may; probes of the kubelet pass always.
    `outside`: names, the world outside the cluster, for datasets and trackers, and what the team opens inside it.
    Where an operator asks pods how they are, it may. Networks of the fabric are not governed by any.
    """
    place = cluster.namespace_of(name)
    inside: list[dict[str, Any]] = [{"podSelector": {}}]
    ranks = {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": inside}],
        "egress": [{"to": inside}],
    }
    opened = [peer(egress) for _, egress in team.opens(cluster_name)]
    to = [
        *names(cluster),
        world(closed_ranges(cluster, team)),
        *trackers(cluster),
        *models(cluster, name),
        *credentials(cluster, name),
        *ceph_buckets.egress(cluster, name),
        *opened,
    ]
    outside = {"podSelector": {}, "policyTypes": ["Egress"], "egress": to}
    for key, spec in (("ranks", ranks), ("outside", outside), *allow_operators(cluster), *allow_prometheus(cluster)):
        fields = {"spec": spec}
        yield Resource("networking.k8s.io/v1", "NetworkPolicy", key, (), place, fields=fields, source=f"team/{name}")


def allow_operators(cluster: Cluster) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a policy by which each operator reaches the pods of its kinds that it asks."""
    found = {kind.carrier.operator: kind.asks for kind in available(cluster) if kind.asks is not None}
    for operator, (labels, number) in found.items():
        peers = list(operator_peers(cluster, operator or ""))
        if peers:
            rule = {"from": peers, "ports": [port(str(number))]}
            chosen = {"podSelector": {"matchLabels": dict(labels)}, "policyTypes": ["Ingress"], "ingress": [rule]}
            yield f"asked-by-{operator}", chosen


def operator_peers(cluster: Cluster, operator: str) -> Iterator[dict[str, Any]]:
    """Yield an operator as the source of traffic; one that somebody else installs is in any namespace but a team's."""
    facts, choice = release(operator), cluster.operators.get(operator)
    if facts is not None and choice is not None:
        there: dict[str, Any] = {"matchLabels": {NAMESPACE: facts.namespace}}
        if not choice.managed:
            there = {"matchExpressions": [{"key": TEAM, "operator": "DoesNotExist"}]}
        yield {"namespaceSelector": there}


def allow_prometheus(cluster: Cluster) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a policy by which Prometheus reads pods of a team that have metrics."""
    for name, labels, number, place in monitors.scraped_in_teams(cluster):
        rule = {"from": [prometheus.peer(place)], "ports": [port(str(number))]}
        yield (
            f"metrics-of-{name}",
            {"podSelector": {"matchLabels": labels}, "policyTypes": ["Ingress"], "ingress": [rule]},
        )


def names(cluster: Cluster) -> Iterator[dict[str, Any]]:
    """Yield the ways to DNS: its pods, and addresses that are answered without being translated to a pod's.

    A cache on the node answers at an address of its own, or at the Service's, in the host's network, where no selector
    finds it (kubernetes v1.35 cluster/addons/dns/nodelocaldns/README.md). Where it runs as a pod, as on Dataplane V2,
    it is one of kube-system, so its label is not asked for.
    """
    systems = {"matchExpressions": [{"key": NAMESPACE, "operator": "In", "values": list(RESOLVERS)}]}
    yield {"to": [{"namespaceSelector": systems}], "ports": [port(port_) for port_ in LISTENING]}
    services = [cluster.cidrs.services] if cluster.cidrs else []
    blocks = [{"ipBlock": {"cidr": cidr}} for cidr in (LINK_LOCAL, *services)]
    yield {"to": blocks, "ports": [port(query) for query in QUERIES]}


def world(kept: list[str]) -> dict[str, Any]:
    """Return all addresses but those of some ranges."""
    blocks = [block("0.0.0.0/0", [cidr for cidr in kept if ":" not in cidr])]
    if any(":" in cidr for cidr in kept):
        blocks.append(block("::/0", [cidr for cidr in kept if ":" in cidr]))
    return {"to": blocks}


def trackers(cluster: Cluster) -> Iterator[dict[str, Any]]:
    """Yield the way to the MLflow of the cluster; other trackers are outside of it, or opened by the team."""
    facts = release(tracking.MLFLOW)
    if facts is not None and tracking.has_server(cluster):
        server = {"matchLabels": {"app": tracking.MLFLOW}}
        there = {"namespaceSelector": {"matchLabels": {NAMESPACE: facts.namespace}}, "podSelector": server}
        yield {"to": [there], "ports": [port(str(tracking.PORT))]}


def models(cluster: Cluster, team: str) -> Iterator[dict[str, Any]]:
    """Yield the way to services of NVIDIA NIM that the team may call."""
    called = nim.called_namespaces(cluster, team)
    if called:
        spaces = {"matchExpressions": [{"key": NAMESPACE, "operator": "In", "values": called}]}
        served = {"namespaceSelector": spaces, "podSelector": {"matchLabels": dict(nim.SERVED)}}
        yield {"to": [served], "ports": [port(str(nim.PORT))]}


CREDENTIALS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "pod-identity": (("169.254.170.23/32", ("80",)), ("fd00:ec2::23/128", ("80",))),
    "gke": (("169.254.169.252/32", ("987", "988")), ("169.254.169.254/32", ("80", "8080"))),
}
"""Where pods get credentials for buckets on their node: addresses and ports.

EKS Pod Identity's agent (Amazon EKS user guide, pod-id-how-it-works), and GKE's metadata server, which Calico sees at
the first address and Dataplane V2 at the second (Google Kubernetes Engine, network policy with Workload Identity).
With the other ways pods ask services outside the cluster.
"""


def credentials(cluster: Cluster, team: str) -> Iterator[dict[str, Any]]:
    """Yield the way to the program on each node that gives the team's pods credentials for buckets."""
    store = cluster.object_storage
    if store is not None and bucket_account(cluster, team) is not None:
        for cidr, ports in CREDENTIALS.get(store.identity, ()):
            yield {"to": [{"ipBlock": {"cidr": cidr}}], "ports": [port(number) for number in ports]}


def closed_ranges(cluster: Cluster, team: Team) -> list[str]:
    """Return the ranges that a team's pods do not reach unless the team opens them.

    Pods of a team without service accounts reach no API server and no metadata service either.
    """
    return own_ranges(cluster)[:1] if team.service_accounts else [*own_ranges(cluster), LINK_LOCAL]


def own_ranges(cluster: Cluster) -> list[str]:
    """Return the ranges of the cluster's pods, services and nodes, as far as they are known."""
    known = [cluster.cidrs.pods, cluster.cidrs.services, cluster.cidrs.nodes] if cluster.cidrs else []
    return [cidr for cidr in known if cidr]


def block(cidr: str, kept: list[str]) -> dict[str, Any]:
    """Return all addresses of one family but those kept."""
    return {"ipBlock": {"cidr": cidr, "except": sorted(kept) or None}}


def peer(opened: Egress) -> dict[str, Any]:
    """Return the rule for what a team opens."""
    if opened.namespace is None:
        to: dict[str, Any] = {"ipBlock": {"cidr": opened.cidr}}
    else:
        to = {"namespaceSelector": {"matchLabels": {NAMESPACE: opened.namespace}}}
        to |= {"podSelector": {"matchLabels": dict(opened.pods)}} if opened.pods else {}
    return {"to": [to], "ports": [port(one_port) for one_port in opened.ports]}


def port(text: str) -> dict[str, Any]:
    """Return a port or a range of ports as a policy writes it."""
    numbers, _, protocol = text.partition("/")
    first, _, last = numbers.partition("-")
    return {"port": int(first), "endPort": int(last) if last else None, "protocol": protocol or "TCP"}


def attachments(cluster: Cluster, name: str) -> Iterator[Resource]:
    """Yield a network for each rail where the team may want one; pods use networks of their own namespace alone.

    It names the device that goes with it, but for a shared one, which is no interface of the network's.
    """
    fabric = cluster.fabric
    if fabric is None or cluster.simulated is not None or name not in teams(cluster):
        return
    for title, subnet in subnets(cluster).items():
        rail = networks(cluster)[title][0]
        config = {"cniVersion": "1.0.0", "name": title, "plugins": plugins(cluster, fabric, title, str(subnet), name)}
        yield Resource(
            "k8s.cni.cncf.io/v1",
            "NetworkAttachmentDefinition",
            title,
            ("fabric", "addresses"),
            cluster.namespace_of(name),
            annotations={} if fabric.attach in SHARED else {NETWORK_RESOURCE: resource(cluster, rail)},
            fields={"spec": {"config": json.dumps(config, separators=(",", ":"))}},
        )


def plugins(cluster: Cluster, fabric: Fabric, name: str, subnet: str, team: str) -> list[dict[str, Any]]:
    """Return the chain of CNI plugins of a team's network.

    Virtual functions: `sriov` or `ib-sriov`, then `rdma`, which moves the RDMA device into the pod, as the pool's
    exclusive mode needs it (sriov-cni v2.9, ib-sriov-cni v1.3, rdma-cni v1.4). The default route stays with the
    cluster network. A team's VLAN is the function's own, so that pods neither see nor leave it (sriov-cni v2.9 `vlan`).
    On one subnet for all rails each interface speaks for itself.
    """
    ipam = addresses(cluster, name, subnet)
    rail = networks(cluster)[name][0]
    if fabric.attach == "macvlan":
        master = next(nic.interface for pool in pools(cluster).values() for nic in pool.node.nics if nic.rail == rail)
        return [{"type": "macvlan", "master": master, "mode": "bridge", "mtu": fabric.mtu, "ipam": ipam}]
    if fabric.attach == "hostdev":
        return apart(cluster, [{"type": "host-device", "ipam": ipam}])
    if link(fabric) == "infiniband":
        return [{"type": "ib-sriov", "link_state": "enable", **partition(fabric, team), "ipam": ipam}, {"type": "rdma"}]
    vlan = {"vlan": fabric.vlans[team]} if team in fabric.vlans else {}
    return apart(cluster, [{"type": "sriov", "spoofchk": "on", "trust": "off", **vlan, "ipam": ipam}, {"type": "rdma"}])


def partition(fabric: Fabric, team: str) -> dict[str, Any]:
    """Return the partition key of a team's network function: ib-kubernetes reads it and gives the function a GUID.

    Source: NVIDIA network-operator documentation v26.4, InfiniBand network with PKey management.
    """
    key = fabric.partition_of(team)
    return {"pkey": key, "ibKubernetesEnabled": True} if key else {}


SYSCTLS = {"arp_announce": "2", "arp_filter": "1", "arp_ignore": "1", "rp_filter": "0", "accept_local": "1"}
"""What keeps interfaces of one subnet apart (oracle-quickstart/oci-hpc-oke, SriovNetwork of its guide)."""


def apart(cluster: Cluster, chain: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the chain with what a subnet of several interfaces needs: ARP for each alone, and routes by source.

    Linux answers ARP on any interface otherwise, and traffic leaves by the wrong rail.
    """
    if not one_for_all(cluster) or (cluster.fabric is not None and link(cluster.fabric) == "infiniband"):
        return chain
    tuning = {f"net.ipv4.conf.IFNAME.{name}": value for name, value in SYSCTLS.items()}
    return [chain[0], {"type": "tuning", "sysctl": tuning}, *chain[1:], {"type": "sbr"}]


def addresses(cluster: Cluster, name: str, subnet: str) -> dict[str, Any]:
    """Return the address plan of a network: one range for all teams, so that no address is given twice.

    nv-ipam has it in a pool of the network's name, which the network operator's objects make. With Whereabouts the
    first address is left to the switch (whereabouts v0.9.4 doc/extended-configuration.md).
    """
    if by_nv_ipam(cluster):
        return {"type": "nv-ipam", "poolName": name, "poolType": "cidrpool" if is_routed(cluster) else "ippool"}
    whole = ipaddress.ip_network(subnet)
    return {"type": "whereabouts", "range": subnet, "exclude": [f"{whole[1]}/{whole.max_prefixlen}"]}

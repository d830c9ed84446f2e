"""Whether the addresses inside the cluster that a job names are open to the pods of its team."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.manifests import mapping
from trainyard.base.rules import Rule
from trainyard.judge.policies import traffic
from trainyard.judge.preflight.job.hosts import Named, hosts, texts_of
from trainyard.judge.preflight.subjects import PLACED, OneJob
from trainyard.render.clusters import nets, of_team
from trainyard.render.parts import tracking
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.job import Job
from trainyard.specs.models.team import Team
from trainyard.specs.releases import release
from trainyard.specs.tracked import on

CLOSED = Rule(
    id="run/closed-address",
    title="Addresses inside the cluster that a job names are open to its team.",
    why="the team's NetworkPolicies drop the packets, so the program waits until it times out, and may never train",
    fix="add the namespace and the container's port to egress in platform/teams/<team>.yaml",
    source="kubernetes v1.35 staging/src/k8s.io/api/networking/v1/types.go; docs/teams.md",
    layer="run",
    severity=Severity.WARNING,
)

POLICIES = ("cilium.io", "projectcalico.org", "policy.networking.k8s.io", "antrea.io")
"""API groups whose policies may open what NetworkPolicies do not (Cilium, Calico, the policies of administrators)."""


@PLACED.check()
def check(one: OneJob, team: Team, cluster: Cluster) -> Iterator[Finding]:
    """Yield hosts inside the cluster that no NetworkPolicy of the team's namespace opens, once each."""
    specs, job, name = one.specs, one.file.job, one.file.team
    if cluster.cidrs is None or (job.fabric == "rdma" and cluster.fabric and cluster.fabric.attach == "host"):
        return
    if any(program.folder in {"platform", f"teams/{name}"} for program in on(specs.programs, job.cluster)):
        return
    extra = of_team(specs, job.cluster, name)
    if any(group_is(item, POLICIES) for item in extra):
        return
    added = list(policies_of(extra, cluster.namespace_of(name)))
    open_rules = [*rules_of(one, team, cluster, added), *(rule for item in added for rule in outgoing(item))]
    said = set[str]()
    said_by_job = texts_of(job, one.run.contents if one.run is not None else {})
    for path, text in (*said_by_job, *trackers_of(job, cluster)):
        for found in hosts(text, spaces(cluster, team, extra)):
            message = closed(one, team, cluster, found, open_rules)
            if message and found.text not in said and not is_elsewhere(found, extra):
                said.add(found.text)
                yield CLOSED.at(one.file.source, path, message)


def trackers_of(job: Job, cluster: Cluster) -> Iterator[tuple[Path, str]]:
    """Yield the addresses of the trackers that a job names, but that of the server for which a policy opens the way."""
    there = cluster.tracking
    for index, name in enumerate(job.tracking if there is not None else ()):
        said = getattr(there, name)
        if said is not None and said.url and not (name == tracking.MLFLOW and tracking.has_server(cluster)):
            yield ("tracking", index), said.url


def closed(one: OneJob, team: Team, cluster: Cluster, found: Named, rules: list[traffic.Rule]) -> str | None:
    """Return why a host is closed to a team's pods and what to do; None where it may be open."""
    name, cidrs = one.file.team, cluster.cidrs
    if not found.space:
        return closed_address(one, team, cluster, found.text, rules)
    peer = traffic.Pod(found.space, range=cidrs.pods if cidrs else None)
    place = cluster.namespace_of(name)
    if found.space == place or any(traffic.may_pass(rule, "Egress", place, peer) for rule in rules):
        return None
    where = f"{found.text!r} is in namespace {found.space!r}"
    if found.space in cluster.namespaces():
        return f"{where} of another team, whose pods accept no connection; use a server elsewhere"
    others = [key for egress in team.egress if egress.namespace == found.space for key in egress.clusters]
    if others:
        return f"{where}, which team {name!r} opens only on {', '.join(others[:3])}; add {one.file.job.cluster!r}"
    return f"{where}, which is closed to team {name!r}; add it to egress of the team"


def closed_address(one: OneJob, team: Team, cluster: Cluster, text: str, rules: list[traffic.Rule]) -> str | None:
    """Return why an address is closed to a team's pods; None where it may be open, or is not of the cluster."""
    address, name = ipaddress.ip_address(text), one.file.team
    for what in ("pods", "services", "nodes"):
        cidr = getattr(cluster.cidrs, what)
        if not cidr or address not in ipaddress.ip_network(cidr) or cidr not in nets.closed_ranges(cluster, team):
            continue
        pods = what != "nodes"
        if (pods and any(egress.namespace for _, egress in team.opens(one.file.job.cluster))) or any(
            traffic.may_pass(rule, "Egress", cluster.namespace_of(name), traffic.Pod("", range=text)) for rule in rules
        ):
            return None
        remedy = (
            "open its namespace in egress of the team, and use the Service's name" if pods else "add its cidr to egress"
        )
        return f"{text} is an address of {what} of the cluster, closed to team {name!r}; {remedy}"
    return None


def rules_of(one: OneJob, team: Team, cluster: Cluster, added: list[Mapping[str, Any]]) -> Iterator[traffic.Rule]:
    """Yield the rules that Trainyard renders for the team, but those for DNS.

    A policy of the repository's own takes the place of one of the same name.
    """
    dns = list(nets.names(cluster))
    theirs = {mapping(item.get("metadata")).get("name") for item in added}
    for policy in nets.policies(one.file.job.cluster, cluster, one.file.team, team):
        if policy.name not in theirs:
            yield from (rule for rule in traffic.rules(policy.fields["spec"], "Egress") if rule not in dns)


def policies_of(extra: list[Mapping[str, Any]], namespace: str) -> Iterator[Mapping[str, Any]]:
    """Yield the repository's own policies in a team's namespace."""
    for item in extra:
        own = (mapping(item.get("metadata")).get("namespace") or namespace) == namespace
        if own and item.get("kind") == "NetworkPolicy" and group_is(item, ("networking.k8s.io",)):
            yield item


def outgoing(policy: Mapping[str, Any]) -> Iterator[traffic.Rule]:
    """Yield the rules of a policy for what pods send."""
    yield from traffic.rules(mapping(policy.get("spec")), "Egress")


def group_is(item: Mapping[str, Any], groups: tuple[str, ...]) -> bool:
    """Whether an object is of one of these API groups, or of one below it."""
    group = str(item.get("apiVersion")).rpartition("/")[0]
    return any(group == one or group.endswith(f".{one}") for one in groups)


def is_elsewhere(found: Named, extra: list[Mapping[str, Any]]) -> bool:
    """Whether a Service leads to what are no pods of its namespace: a name outside, or endpoints written by hand."""
    for item in extra:
        metadata, spec = mapping(item.get("metadata")), mapping(item.get("spec"))
        same = (metadata.get("namespace"), metadata.get("name")) == (found.space, found.service)
        if same and item.get("kind") == "Service" and not spec.get("selector"):
            return True
    return False


def spaces(cluster: Cluster, team: Team, extra: list[Mapping[str, Any]]) -> frozenset[str]:
    """Return the namespaces that are known to be on a cluster."""
    facts = [release(operator) for operator in cluster.operators]
    found = {*cluster.namespaces(), cluster.argocd.namespace, *(one.namespace for one in facts if one is not None)}
    found |= {egress.namespace for egress in team.egress if egress.namespace}
    for item in extra:
        metadata = mapping(item.get("metadata"))
        found.add(str(metadata.get("name" if item.get("kind") == "Namespace" else "namespace")))
    return frozenset(found)

"""What a team's file says about clusters: names that exist, what its pods may reach, and who they are there."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping

from trainyard.clusters.nets import LINK_LOCAL, RESOLVERS, closed
from trainyard.documents import Path
from trainyard.findings import Finding, Severity, did_you_mean
from trainyard.parts.identity import malformed
from trainyard.preflight.names import UNKNOWN_CLUSTER, present
from trainyard.releases import releases
from trainyard.rules import Rule
from trainyard.sizing.fabrics import fabric_type
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.team import DEFAULT, Egress, Team
from trainyard.specs.sources import Source, Specs

DOCS = "docs/clusters.md"

TOO_WIDE = Rule(
    id="spec/egress-too-wide",
    title="A team opens what its pods need inside the cluster, and not everything.",
    why="a range that holds all pods, Services or nodes takes down the wall between teams",
    fix="name the namespace, or the addresses of the server",
    source=DOCS,
)
NO_EFFECT = Rule(
    id="spec/egress-no-effect",
    title="What a team opens was closed before, and is open after.",
    why="who reads it takes something for reachable that is not, or for closed that is open",
    fix="remove the entry, or name the pods behind the Service",
    source="kubernetes v1.35 staging/src/k8s.io/api/networking/v1/types.go NetworkPolicyPeer",
    severity=Severity.WARNING,
)
OTHER_TEAM = Rule(
    id="spec/egress-team",
    title="No team opens a way to another team's pods.",
    why="pods of a team take connections of their own namespace alone, so that it leads nowhere",
    fix="put what both need into a namespace of its own",
    source=DOCS,
)
METADATA = Rule(
    id="spec/egress-metadata",
    title="Pods reach the credentials of their node only where a team means it.",
    why="whoever has them is the node in the provider's eyes, and reads what every team's pods on it may read",
    fix="give the job a service account with an identity of its own",
    source="https://cloud.google.com/kubernetes-engine/docs/how-to/protecting-cluster-metadata",
    severity=Severity.WARNING,
)
NOWHERE = Rule(
    id="spec/nowhere",
    title="What a team names of clusters is on one of them.",
    why="a claim of a class that is nowhere is never made, and a priority that is nowhere lets no job have it",
    fix="correct the name, or add it to a cluster",
    source=DOCS,
    severity=Severity.WARNING,
)
EVERYBODY = Rule(
    id="spec/default-account",
    title="An account that jobs name is not the one that every pod has.",
    why="what the account may do, every pod of the namespace may that names none, and its token says nothing",
    fix="choose another name, and write it into the jobs that need it",
    source="kubernetes v1.35 plugin/pkg/admission/serviceaccount/admission.go DefaultServiceAccountName",
    severity=Severity.WARNING,
)
IDENTITY = Rule(
    id="spec/identity",
    title="An account's annotation names an identity as its provider writes it.",
    why="the provider passes over what it cannot read, and the program gets the node's identity or none",
    fix="correct the annotation",
    source=DOCS,
)
NEEDLESS = Rule(
    id="spec/privileged-needless",
    title="A team is privileged where a cluster's fabric asks for it, and nowhere else.",
    why="whoever gets a pod into a privileged namespace has the node, and with it what every team has there",
    fix="write podSecurity as a map, with a level for each cluster that needs one",
    source="docs/clusters.md",
)
TAKEN = Rule(
    id="spec/team-namespace",
    title="No team is called as a namespace of Argo CD's or of an operator.",
    why="the team's people and runs would be in that namespace, beside what has rights over the cluster",
    fix="call the team otherwise",
    source="docs/clusters.md; the namespaces of releases/",
)

DEFAULT_ACCOUNT = "default"
"""The account that each namespace has, and each pod that names none."""

METADATA_ADDRESSES = (LINK_LOCAL, "fd00:ec2::254/128", "fd20:ce::254/128")
"""Metadata services: link-local in every cloud; over IPv6 those of EC2 and of Google's Compute Engine."""


def check(specs: Specs, *, broken: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """Yield what is wrong with teams in view of all clusters; `broken` are specs that could not be read."""
    clusters = present("cluster", specs.clusters, broken)
    for name, team in specs.teams.items():
        source = specs.sources[f"team/{name}"]
        if whose := taken(specs).get(name):
            yield TAKEN.at(source, (), f"team name {name!r} is the namespace of {whose}; choose another")
        yield from check_needed(specs, name, source)
        yield from check_clusters(team, source, clusters)
        yield from check_accounts(team, source)
        yield from check_references(specs, team, source, broken)
        there = {key: each for key, each in specs.clusters.items() if name in each.teams()}
        for at, opened in enumerate(team.egress):
            yield from check_egress(specs, name, source, opened, ("egress", at), there)


def taken(specs: Specs) -> Mapping[str, str]:
    """Return the namespaces that are the platform's on any cluster, each with whose it is."""
    found = {facts.namespace: f"operator {name!r}" for name, facts in releases().items()}
    found |= {name: "Multus and other daemons" for name in RESOLVERS if name not in found}
    for name, cluster in specs.clusters.items():
        found[cluster.argocd.namespace] = f"Argo CD of cluster {name!r}"
        for space in cluster.pipelines.namespaces_apart() if cluster.pipelines else ():
            found[space] = f"pipelines of cluster {name!r}"
    return found


def check_needed(specs: Specs, name: str, source: Source) -> Iterator[Finding]:
    """Yield clusters on which a team is privileged, and nothing of their fabric asks for it."""
    team = specs.teams[name]
    for key, cluster in specs.clusters.items():
        if name in cluster.teams() and team.level_on(key) == "privileged" and not needs_privileges(cluster):
            plain = isinstance(team.pod_security, str)
            path: Path = ("podSecurity",) if plain or key not in team.pod_security else ("podSecurity", key)
            message = f"podSecurity is 'privileged' on cluster {key!r}, whose fabric needs no more than restricted"
            yield NEEDLESS.at(source, path, f"{message}; lower it there")


def needs_privileges(cluster: Cluster) -> bool:
    """Whether pods on the cluster's fabric have paths, capabilities or the network of their node."""
    return fabric_type(cluster).level_on(cluster) == "privileged"


def check_clusters(team: Team, source: Source, clusters: set[str]) -> Iterator[Finding]:
    """Yield clusters that the team names and that do not exist."""
    levels = team.pod_security if isinstance(team.pod_security, Mapping) else {}
    named: list[tuple[str, Path, bool]] = [(key, ("podSecurity", key), True) for key in levels if key != DEFAULT]
    for volume, claim in team.volumes.items():
        named += [(key, ("volumes", volume, "clusters", at), False) for at, key in enumerate(claim.clusters)]
    for place, opened in enumerate(team.egress):
        named += [(key, ("egress", place, "clusters", at), False) for at, key in enumerate(opened.clusters)]
    for name, path, key in named:
        if name not in clusters:
            message = f"cluster {name!r} does not exist; {did_you_mean(name, clusters)}"
            yield UNKNOWN_CLUSTER.at(source, path, message, key=key)


def check_references(specs: Specs, team: Team, source: Source, broken: frozenset[str]) -> Iterator[Finding]:
    """Yield storage and priorities that no cluster has; nothing is said where one cannot be read."""
    if any(key.startswith("cluster/") for key in broken) or not specs.clusters:
        return
    storage = {name for cluster in specs.clusters.values() for name in cluster.storage}
    for name, volume in team.volumes.items():
        if storage and volume.storage not in storage:
            message = f"storage {volume.storage!r} is on no cluster; {did_you_mean(volume.storage, storage)}"
            yield NOWHERE.at(source, ("volumes", name, "storage"), message)
    priorities = {name for cluster in specs.clusters.values() for name in cluster.priorities}
    for index, priority in enumerate(team.priorities):
        if priorities and priority not in priorities:
            message = f"priority {priority!r} is on no cluster; {did_you_mean(priority, priorities)}"
            yield NOWHERE.at(source, ("priorities", index), message)


def check_accounts(team: Team, source: Source) -> Iterator[Finding]:
    """Yield the account of every pod, and identities that no provider could read."""
    if DEFAULT_ACCOUNT in (names := list(team.accounts)):
        at = DEFAULT_ACCOUNT if isinstance(team.service_accounts, Mapping) else names.index(DEFAULT_ACCOUNT)
        message = "account 'default' is that of every pod which names none; choose another name"
        yield EVERYBODY.at(source, ("serviceAccounts", at), message, key=isinstance(at, str))
    for name, account in team.accounts.items():
        for each in malformed(account.annotations):
            path = ("serviceAccounts", name, "annotations", each.annotation)
            message = f"{each.annotation} is {account.annotations[each.annotation]!r}, but should be {each.should}"
            yield IDENTITY.at(source, path, message, source=each.source)


def check_egress(
    specs: Specs, name: str, source: Source, opened: Egress, path: Path, clusters: Mapping[str, Cluster]
) -> Iterator[Finding]:
    """Yield what one entry opens too widely, to no purpose, or to whom nobody should reach."""
    team = specs.teams[name]
    if opened.namespace == name:
        message = f"pods of namespace {name!r} reach each other already; remove the entry"
        yield NO_EFFECT.at(source, (*path, "namespace"), message)
    elif opened.namespace in specs.teams:
        message = f"namespace {opened.namespace!r} is another team's, whose pods take no connection; remove the entry"
        yield OTHER_TEAM.at(source, (*path, "namespace"), message)
    there = [key for key in clusters if not opened.clusters or key in opened.clusters]
    wrong = [check_range(clusters[key], key, team, opened.cidr) for key in there if opened.cidr is not None]
    needless = all(found is not None and found[0] is NO_EFFECT for found in wrong)
    said = {rule.id: (rule, message) for rule, message in reversed([found for found in wrong if found is not None])}
    for rule, message in said.values():
        if needless or rule is not NO_EFFECT:
            yield rule.at(source, (*path, "cidr"), message)


def check_range(cluster: Cluster, name: str, team: Team, cidr: str) -> tuple[Rule, str] | None:
    """Return what is wrong with a range on one cluster; what has no effect there may have one on another."""
    if ipaddress.ip_network(cidr).prefixlen == 0:
        return TOO_WIDE, f"cidr {cidr} is every address there is; the world is open, so name what is inside"
    ranges = {key: value for key in ("pods", "services") if (value := getattr(cluster.cidrs, key, None))}
    whole = next((key for key, value in ranges.items() if holds(cidr, value)), None)
    if whole is not None:
        return TOO_WIDE, f"cidr {cidr} holds all {whole} of cluster {name!r}; name the namespace that is meant"
    if "services" in ranges and holds(ranges["services"], cidr):
        return NO_EFFECT, f"cidr {cidr} is of Services, but policies see the pods behind them; name their namespace"
    if any(overlap(cidr, each) for each in METADATA_ADDRESSES):
        return METADATA, f"cidr {cidr} has the metadata service of nodes; give the job an identity of its own"
    if not any(overlap(cidr, each) for each in closed(cluster, team)):
        inside = any(overlap(cidr, each) for each in (getattr(cluster.cidrs, "nodes", None),) if each)
        known = "of nodes, which a team with service accounts reaches already"
        where = known if inside else "outside the cluster, and so open already"
        return NO_EFFECT, f"cidr {cidr} is {where}; remove the entry"
    return None


def holds(wide: str, narrow: str) -> bool:
    """Whether a range has all addresses of another."""
    return overlap(wide, narrow) and ipaddress.ip_network(wide).prefixlen <= ipaddress.ip_network(narrow).prefixlen


def overlap(one: str, two: str) -> bool:
    """Whether two ranges share an address."""
    first, second = ipaddress.ip_network(one), ipaddress.ip_network(two)
    return first.version == second.version and first.overlaps(second)

"""What a team's file says about clusters: names that exist, what its pods may reach, and who they are there."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.names import UNKNOWN_CLUSTER, present
from trainyard.judge.preflight.subjects import TEAM, OneTeam
from trainyard.render.clusters.nets import LINK_LOCAL, closed_ranges
from trainyard.render.parts.identity import malformed_providers
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.team import DEFAULT, Egress, Team
from trainyard.specs.sources import Source, Specs

DOCS = "docs/teams.md"

TOO_WIDE = Rule(
    id="spec/egress-too-wide",
    title="A team's egress opens only what its pods need inside the cluster.",
    why="a range that contains all pods, Services or nodes removes the isolation between teams",
    fix="name the namespace, or the server's addresses",
    source=DOCS,
)
NO_EFFECT = Rule(
    id="spec/egress-no-effect",
    title="Every egress entry of a team changes what its pods can reach.",
    why="readers would believe in a connection, or a block, that does not exist",
    fix="remove the entry, or name the pods behind the Service",
    source="kubernetes v1.35 staging/src/k8s.io/api/networking/v1/types.go NetworkPolicyPeer",
    severity=Severity.WARNING,
)
OTHER_TEAM = Rule(
    id="spec/egress-team",
    title="No egress entry opens a way to another team's pods.",
    why="pods accept connections only from their own namespace, so the entry has no effect",
    fix="move what both teams need into its own namespace",
    source=DOCS,
)
METADATA = Rule(
    id="spec/egress-metadata",
    title="Pods cannot reach their node's credentials.",
    why=(
        "with these credentials a pod is its node for the cloud provider, and can read what any team's pods on it "
        "may read"
    ),
    fix="give the job a service account with its own identity",
    source="https://cloud.google.com/kubernetes-engine/docs/how-to/protecting-cluster-metadata",
    severity=Severity.WARNING,
)
NOWHERE = Rule(
    id="spec/nowhere",
    title="The clusters, storages and priorities in a team's file exist.",
    why="a claim with an unknown storage is never created, and no job can use an unknown priority",
    fix="correct the name, or add it to a cluster",
    source=DOCS,
    severity=Severity.WARNING,
)
EVERYBODY = Rule(
    id="spec/default-account",
    title="A team does not list the service account default.",
    why="every pod of the namespace that names no account would get its rights and its token",
    fix="use another name, and name it in the jobs that need it",
    source="kubernetes v1.35 plugin/pkg/admission/serviceaccount/admission.go DefaultServiceAccountName",
    severity=Severity.WARNING,
)
IDENTITY = Rule(
    id="spec/identity",
    title="The identity in an account's annotation has the provider's format.",
    why="the provider ignores other formats, and the program gets the node's identity or none",
    fix="correct the annotation",
    source=DOCS,
)
NEEDLESS = Rule(
    id="spec/privileged-needless",
    title="A team is privileged only where a cluster's fabric needs it.",
    why="a pod in a privileged namespace can take over its node, and with it the data of every team",
    fix="write podSecurity as a map, with a level for each cluster that needs one",
    source="docs/teams.md",
)
DEFAULT_ACCOUNT = "default"
"""The account that each namespace has, and each pod that names none."""

METADATA_ADDRESSES = (LINK_LOCAL, "fd00:ec2::254/128", "fd20:ce::254/128")
"""Metadata services: link-local in every cloud; over IPv6 those of EC2 and of Google's Compute Engine."""


@TEAM.check()
def check(one: OneTeam) -> Iterator[Finding]:
    """Yield the problems with a team in view of all clusters."""
    specs, name, team, source = one.specs, one.name, one.team, one.source
    yield from check_needed(specs, name, source)
    yield from check_clusters(team, source, present("cluster", specs.clusters, one.broken))
    yield from check_accounts(team, source)
    yield from check_references(specs, team, source, one.broken)
    there = {key: cluster for key, cluster in specs.clusters.items() if name in cluster.teams()}
    for at, opened in enumerate(team.egress):
        yield from check_egress(specs, name, source, opened, ("egress", at), there)


def check_needed(specs: Specs, name: str, source: Source) -> Iterator[Finding]:
    """Yield clusters on which a team is privileged, and nothing of their fabric asks for it."""
    team = specs.teams[name]
    for key, cluster in specs.clusters.items():
        if name in cluster.teams() and team.level_on(key) == "privileged" and not needs_privileges(cluster):
            plain = isinstance(team.pod_security, str)
            path: Path = ("podSecurity",) if plain or key not in team.pod_security else ("podSecurity", key)
            message = f"podSecurity is 'privileged' on cluster {key!r}, whose fabric needs only restricted"
            yield NEEDLESS.at(source, path, f"{message}; lower it there")


def needs_privileges(cluster: Cluster) -> bool:
    """Whether pods on the cluster's fabric have paths, capabilities or the network of their node."""
    return fabric_type(cluster).level_on(cluster) == "privileged"


def check_clusters(team: Team, source: Source, clusters: set[str]) -> Iterator[Finding]:
    """Yield clusters that the team names and that do not exist."""
    named: list[tuple[str, Path, bool]] = []
    for field, said in (("namespace", team.namespace), ("podSecurity", team.pod_security)):
        keys = said if isinstance(said, Mapping) else {}
        named += [(key, (field, key), True) for key in keys if key != DEFAULT]
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
            message = f"no cluster has storage {volume.storage!r}; {did_you_mean(volume.storage, storage)}"
            yield NOWHERE.at(source, ("volumes", name, "storage"), message)
    priorities = {name for cluster in specs.clusters.values() for name in cluster.priorities}
    for index, priority in enumerate(team.priorities):
        if priorities and priority not in priorities:
            message = f"no cluster has priority {priority!r}; {did_you_mean(priority, priorities)}"
            yield NOWHERE.at(source, ("priorities", index), message)


def check_accounts(team: Team, source: Source) -> Iterator[Finding]:
    """Yield the account of every pod, and identities that no provider could read."""
    if DEFAULT_ACCOUNT in (names := list(team.accounts)):
        at = DEFAULT_ACCOUNT if isinstance(team.service_accounts, Mapping) else names.index(DEFAULT_ACCOUNT)
        message = "account 'default' belongs to every pod that names none; use another name"
        yield EVERYBODY.at(source, ("serviceAccounts", at), message, key=isinstance(at, str))
    for name, account in team.accounts.items():
        for cloud in malformed_providers(account.annotations):
            path = ("serviceAccounts", name, "annotations", cloud.annotation)
            message = f"{cloud.annotation} is {account.annotations[cloud.annotation]!r}, but must be {cloud.should}"
            yield IDENTITY.at(source, path, message, source=cloud.source)


def check_egress(
    specs: Specs, name: str, source: Source, opened: Egress, path: Path, clusters: Mapping[str, Cluster]
) -> Iterator[Finding]:
    """Yield the findings on an egress entry that opens too much, has no effect, or reaches forbidden targets."""
    team = specs.teams[name]
    there = [key for key in clusters if not opened.clusters or key in opened.clusters]
    own = {clusters[key].namespace_of(name) for key in there} or {team.namespace_on(DEFAULT) or name}
    if opened.namespace in own:
        message = f"pods of namespace {opened.namespace!r} already reach each other; remove the entry"
        yield NO_EFFECT.at(source, (*path, "namespace"), message)
    elif opened.namespace is not None and is_of_team(specs, opened.namespace, [clusters[key] for key in there]):
        message = (
            f"namespace {opened.namespace!r} belongs to another team, whose pods accept no connection; remove the entry"
        )
        yield OTHER_TEAM.at(source, (*path, "namespace"), message)
    wrong = [check_range(clusters[key], key, team, opened.cidr) for key in there if opened.cidr is not None]
    needless = all(found is not None and found[0] is NO_EFFECT for found in wrong)
    said = {rule.id: (rule, message) for rule, message in reversed([found for found in wrong if found is not None])}
    for rule, message in said.values():
        if needless or rule is not NO_EFFECT:
            yield rule.at(source, (*path, "cidr"), message)


def is_of_team(specs: Specs, namespace: str, clusters: Iterable[Cluster]) -> bool:
    """Whether a namespace is a team's, on some of these clusters or on all."""
    known = specs.teams.get(namespace)
    return (known is not None and known.namespace is None) or any(one.team_in(namespace) for one in clusters)


def check_range(cluster: Cluster, name: str, team: Team, cidr: str) -> tuple[Rule, str] | None:
    """Return the problems with a range on one cluster; what has no effect there may have one on another."""
    if ipaddress.ip_network(cidr).prefixlen == 0:
        return TOO_WIDE, (
            f"cidr {cidr} contains every address; name only the addresses inside, since the internet is already open"
        )
    ranges = {key: value for key in ("pods", "services") if (value := getattr(cluster.cidrs, key, None))}
    whole = next((key for key, value in ranges.items() if holds(cidr, value)), None)
    if whole is not None:
        return TOO_WIDE, f"cidr {cidr} contains all {whole} of cluster {name!r}; name the namespace instead"
    if "services" in ranges and holds(ranges["services"], cidr):
        return NO_EFFECT, (
            f"cidr {cidr} contains Services, but policies apply to the pods behind them; name their namespace"
        )
    if any(overlap(cidr, metadata_address) for metadata_address in METADATA_ADDRESSES):
        return METADATA, f"cidr {cidr} contains the nodes' metadata service; give the job its own identity"
    if not any(overlap(cidr, closed_cidr) for closed_cidr in closed_ranges(cluster, team)):
        inside = any(overlap(cidr, nodes_cidr) for nodes_cidr in (getattr(cluster.cidrs, "nodes", None),) if nodes_cidr)
        known = "of nodes, which a team with service accounts already reaches"
        where = known if inside else "outside the cluster, and already open"
        return NO_EFFECT, f"cidr {cidr} is {where}; remove the entry"
    return None


def holds(wide: str, narrow: str) -> bool:
    """Whether a range has all addresses of another."""
    return overlap(wide, narrow) and ipaddress.ip_network(wide).prefixlen <= ipaddress.ip_network(narrow).prefixlen


def overlap(one: str, two: str) -> bool:
    """Whether two ranges share an address."""
    first, second = ipaddress.ip_network(one), ipaddress.ip_network(two)
    return first.version == second.version and first.overlaps(second)

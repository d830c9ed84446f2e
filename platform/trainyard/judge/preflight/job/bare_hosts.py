"""Whether a host without a domain that a job's URLs name is a Service of the job's namespace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.findings import Finding, Severity
from trainyard.base.manifests import mapping
from trainyard.base.rules import Rule
from trainyard.judge.preflight.job.hosts import texts_of
from trainyard.judge.preflight.subjects import PLACED, OneJob
from trainyard.render.clusters import of_team
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.team import Team
from trainyard.specs.tracked import on

UNKNOWN = Rule(
    id="run/unknown-host",
    title="A host without a domain in a URL of a job is a Service of the job's namespace.",
    why="cluster DNS looks such a name up in the job's namespace only, so the program waits for a server in vain",
    fix="write name.namespace.svc, or the full name; waive this if the nodes' search domains have the host",
    source="kubernetes/dns docs/specification.md; kubernetes v1.35 pkg/kubelet/network/dns/dns.go",
    layer="run",
    severity=Severity.WARNING,
)

URL = re.compile(
    r"\b(?:https?|grpcs?|rediss?|postgres(?:ql)?|mysql|mongodb|amqps?|nats)://(?:[^\s/@]*@)?"
    r"(?P<host>[a-z][-a-z0-9]*)(?=[:/?#\s\"',;]|$)"
)
"""A URL whose host is one word; schemes of buckets, such as s3, have no hosts."""

LOCAL = frozenset({"localhost"})


@PLACED.check()
def check(one: OneJob, _: Team, cluster: Cluster) -> Iterator[Finding]:
    """Yield hosts that no Service of the repository is, once each; a program or a patch may add others."""
    job, team = one.file.job, one.file.team
    place = cluster.namespace_of(team)
    if any(program.folder in {"platform", f"teams/{team}"} for program in on(one.specs.programs, job.cluster)):
        return
    if any("hostAliases" in str(patch.merge) for patch in job.patches):
        return
    known: frozenset[str] | None = None
    said = set[str]()
    for path, text in texts_of(job, one.run.contents if one.run is not None else {}):
        for match in URL.finditer(text) if "://" in text else ():
            host = match["host"]
            if known is None:
                known = services(of_team(one.specs, job.cluster, team), place) | LOCAL
            if host not in known | said and not host.startswith(one.file.name):
                said.add(host)
                message = (
                    f"{host!r} is no Service of namespace {place!r} here; write its namespace: {host}.<namespace>.svc"
                )
                yield UNKNOWN.at(one.file.source, path, message)


def services(extra: list[Mapping[str, Any]], namespace: str) -> frozenset[str]:
    """Return the Services of the repository's own objects in a team's namespace."""
    found = (mapping(item.get("metadata")) for item in extra if item.get("kind") == "Service")
    return frozenset(str(item.get("name")) for item in found if (item.get("namespace") or namespace) == namespace)

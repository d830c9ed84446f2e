"""Whether the ports that a team opens are those of pods, where platform/extra has their Service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.findings import Finding, Severity
from trainyard.base.manifests import mapping
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import TEAM, OneTeam
from trainyard.render import clusters

PORT = Rule(
    id="spec/egress-port",
    title="A team's egress names the ports of pods, not those of their Service.",
    why="policies see packets after the Service's port was replaced by the pods', so they drop them",
    fix="write the Service's targetPort",
    source="kubernetes v1.35 staging/src/k8s.io/api/networking/v1/types.go NetworkPolicyPort; docs/teams.md",
    severity=Severity.WARNING,
)


@TEAM.check()
def check(one: OneTeam) -> Iterator[Finding]:
    """Yield ports that a Service of the namespace translates to another one, where no pod is known to have them."""
    for name, cluster in one.specs.clusters.items():
        if one.name not in cluster.teams():
            continue
        opened = [(at, egress) for at, egress in one.team.opens(name) if egress.namespace is not None]
        owned = clusters.of_files(one.specs, name).get("platform", ()) if opened else ()
        services = [item.value for item in owned if item.identity.kind == "Service" and not item.identity.group]
        for at, egress in opened:
            ports = dict(translated(services, str(egress.namespace)))
            for index, port in enumerate(egress.ports):
                target = ports.get(port)
                if target and port not in ports.values() and target not in egress.ports:
                    message = f"port {port} is that of a Service in {egress.namespace!r}, whose pods listen at {target}"
                    yield PORT.at(one.source, ("egress", at, "ports", index), f"{message}; write {target}")
                    return


def translated(services: list[Mapping[str, Any]], namespace: str) -> Iterator[tuple[str, str]]:
    """Yield the ports of Services in a namespace, each with the number at which their pods listen."""
    for service in services:
        if mapping(service.get("metadata")).get("namespace") != namespace:
            continue
        ports = mapping(service.get("spec")).get("ports")
        for port in ports if isinstance(ports, list) else ():
            target = port.get("targetPort", port.get("port")) if isinstance(port, dict) else None
            if isinstance(target, int):
                suffix = f"/{port['protocol']}" if port.get("protocol", "TCP") != "TCP" else ""
                yield f"{port.get('port')}{suffix}", f"{target}{suffix}"

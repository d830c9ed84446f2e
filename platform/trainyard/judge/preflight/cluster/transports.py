"""Plugins of NCCL that a fabric's environment asks for, and that its choice of a transport leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs import Cluster
from trainyard.specs.sources import Source
from trainyard.specs.transports import built_in, net_name, transports

LEFT_OUT = Rule(
    id="nccl-net-plugin",
    title="A plugin that the environment asks for is the transport that NCCL_NET names.",
    why="NCCL uses the one transport that NCCL_NET names, so a plugin and its SHARP are loaded and never used",
    fix="set NCCL_NET to the plugin's name in the same place, or remove the variable",
    source="NVIDIA/nccl v2.30.7 src/plugin/net.cc ncclNetInit; docs/reference/transports.md",
    severity=Severity.WARNING,
)

UNNAMED = Rule(
    id="nccl-net-unnamed",
    title="The environment names the plugin of a GPUDirect-TCPX fabric.",
    why="without NCCL_NET, NCCL trains over plain TCP where the plugin does not load, many times slower and in silence",
    fix="set NCCL_NET in fabric.env to the name that ranks print after 'Using network'",
    source="NVIDIA/nccl v2.30.7 src/plugin/net.cc ncclNetInit; docs/reference/transports.md",
    severity=Severity.WARNING,
)

TCPX = "tcpx"
"""The transport whose name follows from NCCL in the image, so that no pod is given it."""

SHARP = "rdma-sharp"
"""The transport that brings collectives of the switches along."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield variables of `fabric.env` that ask for a plugin which no pod uses, and a plugin that nothing asks for."""
    fabric = cluster.fabric
    if fabric is None:
        return
    if fabric.type == "gpudirect-tcpx" and not fabric.env.get("NCCL_NET", "").strip():
        (such, *_) = transports()[TCPX].names
        message = f"NCCL falls back to TCP where the plugin is missing; set NCCL_NET in env, such as {such}"
        yield UNNAMED.at(source, ("fabric", "type"), message)
    if not fabric.env:
        return
    name = net_name(fabric.type)
    derived = {"NCCL_NET": name} if name else {}
    for variable, problem in unused_plugins({**derived, **fabric.env}).items():
        if variable in fabric.env:
            yield LEFT_OUT.at(source, ("fabric", "env", variable), problem)


def unused_plugins(env: Mapping[str, str]) -> dict[str, str]:
    """Return the problem with each variable that asks for a plugin, where NCCL_NET names a part of NCCL."""
    net = env.get("NCCL_NET", "").strip()
    if net.lower() not in built_in():
        return {}
    found = {}
    plugin = env.get("NCCL_NET_PLUGIN", "").strip()
    if plugin and plugin.lower() != "none":
        own = next((row.names[0] for row in transports().values() if row.library == plugin), None)
        instead = f"set NCCL_NET to {own!r}" if own else "set NCCL_NET to its name"
        found["NCCL_NET_PLUGIN"] = f"NCCL_NET is {net!r}, so NCCL never uses plugin {plugin[:40]!r}; {instead}"
    if env.get("NCCL_COLLNET_ENABLE", "").strip() == "1":
        names = transports()[SHARP].names
        message = (
            f"NCCL_NET is {net!r}, so NCCL uses no SHARP of a plugin; set NCCL_NET to its name, such as {names[0]!r}"
        )
        found["NCCL_COLLNET_ENABLE"] = message
    return found

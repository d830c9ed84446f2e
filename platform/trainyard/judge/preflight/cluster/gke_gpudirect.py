"""Whether machines, plugin and daemon of a fabric on Google Kubernetes Engine go together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.base import Site
from trainyard.render.operators.gke_gpudirect import NAME, PLUGINS
from trainyard.render.operators.install import sites
from trainyard.render.sizing.fabrics import fabric_type, fabric_types
from trainyard.render.sizing.fabrics.gke import ACCELERATOR, Gke
from trainyard.specs import Cluster
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

GOOGLE = "GoogleCloudPlatform/container-engine-accelerators 2026-06"

MACHINE = Rule(
    id="pairing/fabric-machine",
    title="A GPUDirect fabric of Google Kubernetes Engine has the machines that its plugin is for.",
    why="each plugin works with the NICs of one machine type, and Google's installer leaves other nodes out",
    fix="use the fabric's type for these machines, or name other pools in fabric.pools",
    source=f"{GOOGLE} gpudirect-*/nccl-*-installer.yaml",
    layer="pairing",
)
PLUGIN = Rule(
    id="pairing/fabric-plugin",
    title="The operator of Google's NCCL plugins is on a cluster with a GPUDirect fabric.",
    why="on any other cluster it installs nothing",
    fix="remove the operator, or set the fabric's type",
    source=f"{GOOGLE} gpudirect-*/nccl-*-installer.yaml",
    layer="pairing",
)
DAEMON = Rule(
    id="pairing/fabric-daemon",
    title="The daemon in pods and the NCCL plugin on nodes are of one release.",
    why="Google couples both versions, and ranks of a job with another pair may fail or hang as they connect",
    fix="use the daemon of the plugin's release, or the operator's release that has the daemon",
    source=f"{GOOGLE} gpudirect-tcpxo/README.md; gpudirect-tcpx/README.md of 2026-06-22",
    layer="pairing",
    severity=Severity.WARNING,
)

TAG = re.compile(r":([^:/@]+)@")


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield machines and daemons that are not of the fabric's plugin, and the operator where it has no place."""
    kind = fabric_type(cluster)
    if isinstance(kind, Gke):
        yield from check_machines(cluster, kind, source)
    site = next((one_site for one_site in sites(cluster) if one_site.name == NAME), None)
    if site is None:
        return
    if kind.name not in PLUGINS:
        message = f"{NAME} installs plugins for {', '.join(PLUGINS)}, but the fabric is {kind.name!r}; remove it"
        yield PLUGIN.at(source, site.at, message, key=True)
    elif kind.has_daemon:
        yield from check_daemon(site, kind.name, source)


def check_machines(cluster: Cluster, kind: Gke, source: Source) -> Iterator[Finding]:
    """Yield pools on the fabric whose machines are known to be another fabric's; unknown ones are left to people."""
    there = (name for name, pool in cluster.pools.items() if is_known_shape(pool.shape))
    for name in (pool_name for pool_name in there if kind.reaches(cluster, pool_name)):
        pool = cluster.pools[name]
        found = {**pool.node.labels, **pool.labels}.get(ACCELERATOR)
        if found is not None and found not in kind.accelerators:
            right = fabric_of(found)
            instead = f"use {right!r}" if right else f"leave {name!r} out of fabric.pools"
            message = f"fabric {kind.name!r} does not work on {found} nodes of pool {name!r}; {instead}"
            yield MACHINE.at(source, ("fabric", "type"), message)


def fabric_of(accelerator: str) -> str | None:
    """Return the type of fabric of the machines with an accelerator, None where no plugin of Google's is for them."""
    every = (kind for kind in fabric_types().values() if isinstance(kind, Gke))
    return next((kind.name for kind in every if accelerator in kind.accelerators), None)


def check_daemon(site: Site, fabric: str, source: Source) -> Iterator[Finding]:
    """Yield a daemon of another release than the plugin; an image without a tag says no release."""
    image = (site.cluster.fabric.daemon if site.cluster.fabric else None) or ""
    found, wanted = TAG.search(image), site.components.get(fabric, {}).get("daemon")
    if found and wanted and found.group(1) != wanted and re.fullmatch(r"v\d+(\.\d+)+", found.group(1)):
        have, release = found.group(1), f"{site.name} {site.version}"
        message = f"daemon is {have}, but the plugin of {release} needs {wanted}; use {wanted}"
        yield DAEMON.at(source, ("fabric", "daemon"), message)

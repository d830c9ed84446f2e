"""Whether a cluster holds together: its operators, their values, its fabric and its kubelets, in one call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trainyard.findings import Finding
from trainyard.operators import pairing, values
from trainyard.sizing import kubelet, networks
from trainyard.specs import Cluster
from trainyard.specs.sources import Source


def check(cluster: Cluster, source: Source, schemas: Path) -> Iterator[Finding]:
    """Yield everything that is wrong; `schemas` is the folder with the charts' defaults."""
    yield from pairing.check(cluster, source)
    yield from values.check(cluster, source, schemas)
    yield from networks.check(cluster, source)
    yield from kubelet.check(cluster, source)

"""Whether snapshots of a storage class can be taken: its driver makes them, and the cluster has what asks for them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.cluster.schedules import times
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.clusters.snapshots import SNAPSHOTTER, scheduled_classes, secret_of
from trainyard.render.operators.external_snapshotter import OPERATOR
from trainyard.specs import Cluster
from trainyard.specs.drivers import Driver
from trainyard.specs.models.storage import Snapshots, Storage
from trainyard.specs.sources import Source

SNAPSHOTS = Rule(
    id="sto-snapshots",
    title="Snapshots are asked of drivers that take them, on clusters that have the snapshot controller.",
    why="otherwise no snapshot is ever ready, and there is nothing to restore",
    fix="use a class whose driver takes snapshots, and add operator external-snapshotter",
    source="docs/snapshots.md; kubernetes-csi/external-snapshotter v8.6.0 README.md",
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield snapshots that nobody takes."""
    for name, (storage, said) in scheduled_classes(cluster).items():
        at: Path = ("storage", name, "snapshots")
        driver = storage.driver
        if storage.exports:
            message = f"storage {name!r} has exports, whose server takes snapshots itself; remove snapshots"
            yield SNAPSHOTS.at(source, at, message, key=True)
        elif driver is not None and driver.snapshots is None:
            message = f"{driver.title} takes no snapshots; remove snapshots, or use another class"
            yield SNAPSHOTS.at(source, at, message, key=True, source=driver.source)
        elif driver is not None and lacks_secret(driver, storage, said):
            message = f"snapshots by {driver.title} need its secret; add secret to class {name!r}, or parameters"
            yield SNAPSHOTS.at(source, at, message, key=True, source=driver.source)
        if OPERATOR.name not in cluster.operators:
            message = f"snapshots need operator {OPERATOR.name!r}; add it, with managed: false if it is there already"
            yield SNAPSHOTS.at(source, at, message, key=True)
        yield from times(SNAPSHOTS, source, at, said, "0 2 * * *")


def lacks_secret(driver: Driver, storage: Storage, said: Snapshots) -> bool:
    """Say whether a driver needs a Secret for snapshots, which neither the class nor the snapshots name."""
    needed = driver.snapshots is not None and driver.snapshots.secret
    return needed and not secret_of(storage) and not said.parameters.keys() >= {*SNAPSHOTTER}

"""Prerequisites of storage: drivers, classes that exist, Secrets, and what drivers need of nodes and servers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.render.operators.base import Site as OperatorSite
from trainyard.render.operators.install import driver_operators
from trainyard.render.prerequisites.base import Prerequisite, Site
from trainyard.render.prerequisites.ceph import declared
from trainyard.render.prerequisites.questions import CsiDriver, Existing, namespaced
from trainyard.specs.drivers import Driver
from trainyard.specs.models.storage import Storage

REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+(?= )")
"""A repository of GitHub at the beginning of a source."""

CLASSES = "/apis/storage.k8s.io/v1/storageclasses"


def drivers(site: Site) -> Iterator[Prerequisite]:
    """Yield the drivers of the cluster's classes that somebody else installs, and what all of them need of nodes."""
    cluster, seen, installers = site.cluster, set[str](), driver_operators(site.cluster)
    for name, storage in cluster.storage.items():
        if storage.existing and storage.driver is None:
            continue
        if storage.provisioner in seen:
            continue
        seen.add(storage.provisioner)
        operator = next(iter(installers.get(storage.provisioner, ())), None)
        if operator is None or not operator.choice.managed:
            yield there(site, name, storage, operator)
            yield from sidecar(site, name, storage)
        if storage.driver and storage.driver.nodes:
            yield Prerequisite(
                f"nodes have what `{storage.provisioner}` needs: {storage.driver.nodes}",
                f"no pod mounts a volume of class {name} otherwise",
                ("storage", name, "provisioner"),
                f"see {source(storage.driver)}",
                look=f"start a pod with a volume of class {name}",
            )


def there(site: Site, name: str, storage: Storage, operator: OperatorSite | None) -> Prerequisite:
    """Return the driver of a class that somebody else installs, as the field says that calls for it."""
    said = site.cluster.drivers.get(storage.provisioner)
    at: Path = ("drivers", storage.provisioner) if said else ("storage", name, "provisioner")
    return Prerequisite(
        f"storage driver `{storage.provisioner}` runs on all nodes" + (f" ({said})" if said else ""),
        f"it makes and mounts the volumes of class {name}",
        operator.at if operator is not None and not said else at,
        how_to_install(storage.driver, site.cluster.distribution.provider),
        CsiDriver(storage.provisioner, tuple(site.cluster.pools)),
    )


def sidecar(site: Site, name: str, storage: Storage) -> Iterator[Prerequisite]:
    """Yield the container for snapshots of a driver that somebody else installs."""
    if any(one.snapshots for one in site.cluster.storage.values() if one.provisioner == storage.provisioner):
        yield Prerequisite(
            f"the controller of `{storage.provisioner}` has the container csi-snapshotter",
            "the snapshot controller leaves it to make and delete snapshots",
            ("storage", name, "snapshots"),
            "switch snapshots on in the driver's chart or settings",
            look="`kubectl get volumesnapshots -A`, a night later, shows READYTOUSE true",
        )


def how_to_install(driver: Driver | None, provider: str | None) -> str:
    """Return how somebody installs a driver: as an add-on where the cluster's cloud has one."""
    if driver is None:
        return "install it"
    if driver.addon is not None and driver.addon.provider == provider:
        return driver.addon.get
    return f"install it, as {source(driver)} says" + (f"; {driver.install}" if driver.install else "")


def classes(site: Site) -> Iterator[Prerequisite]:
    """Yield classes that somebody else makes, Secrets of drivers, and roots of volumes that only a server opens."""
    for name, storage in site.cluster.storage.items():
        if storage.existing:
            fields = {"provisioner": storage.provisioner, "volumeBindingMode": storage.binding}
            yield Prerequisite(
                f"StorageClass `{name}` is there, of `{storage.provisioner}` with binding {storage.binding}",
                "volumes of teams and jobs are claims of it",
                ("storage", name, "existing"),
                "install the driver with this class, or remove `existing`",
                Existing("StorageClass", name, f"{CLASSES}/{name}", fields),
            )
        if storage.secret is not None:
            place = storage.secret
            yield Prerequisite(
                f"Secret `{place.namespace}/{place.name}` has the credentials of `{storage.provisioner}`",
                f"the driver makes no volume of class {name} without it",
                ("storage", name, "secret"),
                f"`kubectl create secret generic -n {place.namespace} {place.name} --from-literal=KEY=VALUE`",
                namespaced("Secret", "secrets", place.namespace, place.name),
            )
        by_rook = declared(site.cluster, storage) is not None
        yield from named_secrets(name, storage, OF_ROOK if by_rook else OF_DRIVER)
        yield from exports(name, storage)
        yield from one_label(site, name, storage)
        if storage.writable_by == "server" and not all_read_only(storage):
            yield Prerequisite(
                f"the root of each volume of class {name} is writable for its team",
                "only the server can change its owner, and pods are not root",
                ("storage", name, "ownership") if storage.ownership else ("storage", name, "provisioner"),
                "`chown :GROUP` and `chmod 2775` on the root of each volume, once, as root on the server",
                look="`ls -ldn`, in a pod that mounts the volume",
            )


def exports(name: str, storage: Storage) -> Iterator[Prerequisite]:
    """Yield the export options of a class's server, where the kubelet gives its volumes to a group."""
    driver = storage.driver
    if storage.exports:
        yield from existing_exports(name, storage)
        return
    if driver is None or driver.server is None or storage.writable_by != "kubelet":
        return
    said = storage.parameters
    folder = f"`{said['share']}` of `{said['server']}`" if {"server", "share"} <= said.keys() else "the server's folder"
    yield Prerequisite(
        f"{folder} is {driver.server}",
        f"root makes the folders of class {name} and gives them to pods; without it claims wait, or pods cannot write",
        ("storage", name, "parameters", "share") if "share" in storage.parameters else ("storage", name),
        "add the option to the export, or set `ownership: server` and prepare each volume on the server",
        look="`exportfs -v`, on the server",
    )


def all_read_only(storage: Storage) -> bool:
    """Say whether a storage has exports alone that nobody writes to."""
    return bool(storage.exports) and all(export.read_only for export in storage.exports.values())


def existing_exports(name: str, storage: Storage) -> Iterator[Prerequisite]:
    """Yield the exports that exist already, which nobody but their server makes."""
    for key, export in storage.exports.items():
        how = "read" if export.read_only else "read and write"
        yield Prerequisite(
            f"export `{export.handle}` exists, and all nodes may {how} it",
            f"it is volume {export.volume or key} of team {export.team}, whose pods do not start without it",
            ("storage", name, "exports", key),
            "create it on its server, and export it to the nodes",
            look="start a pod with the volume",
        )


LABEL = "context=system_u:object_r:container_file_t:s0"
"""Mount option by which all containers may use all files, whatever their category (containers/container-selinux)."""


def one_label(site: Site, name: str, storage: Storage) -> Iterator[Prerequisite]:
    """Yield the mount option that keeps the runtime from labelling every file of a shared volume at each start."""
    driver, cluster = storage.driver, site.cluster
    if driver is None or driver.label_option is None or storage.access != "ReadWriteMany":
        return
    if not any(cluster.distribution_of(pool).relabels_volumes for pool in cluster.pools):
        return
    said = (storage.parameters.get(driver.label_option, ""), *storage.mount_options)
    if any("context=" in option for option in said):
        return
    yield Prerequisite(
        f"pods with volumes of class {name} start in time, although each file gets an SELinux label",
        "labels of millions of files take longer than a run may wait, and Kueue takes its quota back",
        ("storage", name, "parameters") if storage.parameters else ("storage", name),
        f'for a new class `parameters: {{{driver.label_option}: "{LABEL}"}}`; for an existing one a RuntimeClass whose'
        " CRI-O handler allows the annotation `io.kubernetes.cri-o.TrySkipVolumeSELinuxLabel`",
        look=f"start a pod with the largest volume of class {name}, and see how long it is in ContainerCreating",
    )


def source(driver: Driver) -> str:
    """Return where a driver is documented."""
    found = REPOSITORY.match(driver.source)
    return f"github.com/{found[0]}" if found else driver.source


OF_DRIVER = "install the driver with it, or create it as the driver's documentation says"
OF_ROOK = "nothing to do: Rook makes it when its Ceph cluster is ready"


def named_secrets(name: str, storage: Storage, get: str) -> Iterator[Prerequisite]:
    """Yield the Secrets that parameters of a class name, each once, unless `existing` says that the class is there."""
    parameters = {} if storage.existing else storage.parameters
    places = {
        (parameters.get(f"{key.removesuffix('-name')}-namespace", ""), secret): key
        for key, secret in reversed(parameters.items())
        if key.startswith("csi.storage.k8s.io/") and key.endswith("-secret-name")
    }
    for (namespace, secret), key in sorted(places.items()):
        yield Prerequisite(
            f"Secret `{namespace}/{secret}` has the credentials of `{storage.provisioner}`",
            f"the driver makes or mounts no volume of class {name} without it",
            ("storage", name, "parameters", key),
            get,
            namespaced("Secret", "secrets", namespace, secret),
        )

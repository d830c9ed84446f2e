"""Values of the GPU Operator's chart that do not go with the ClusterPolicy and the NVIDIADrivers of `hardware/`.

Facts: NVIDIA/gpu-operator v26.7.0 deployments/gpu-operator/templates, internal/state/driver.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.documents import Path
from trainyard.render.operators.base import Conflict, Site
from trainyard.render.operators.gpu_drivers import by_pool, version
from trainyard.render.operators.node_feature_discovery import check_features
from trainyard.render.operators.stated_values import check_tolerations, if_false, if_true, stated
from trainyard.render.sizing.software import cluster_install, installs, nvidia_pools

TEMPLATES = "NVIDIA/gpu-operator v26.7.0 deployments/gpu-operator/templates"
UPGRADES = "NVIDIA/k8s-operator-libs api/upgrade/v1alpha1/upgrade_spec.go DriverUpgradePolicySpec"
EVICTION = (
    "NVIDIA/k8s-operator-libs pkg/upgrade/pod_manager.go SchedulePodEviction; kubectl pkg/drain localStorageFilter"
)
CONTROLLER = "NVIDIA/gpu-operator v26.7.0 controllers/object_controls.go"

OWNED = {
    "clusterPolicy.deployCR": "hardware/ has the ClusterPolicy already; remove it",
    "gpuCluster.deployCR": "the operator takes no GPUCluster beside the ClusterPolicy of hardware/; remove it",
}
"""Objects of the chart that ours exclude."""

APPLIED = {"operator.upgradeCRD": "Argo CD applies the definitions already; remove it"}


def conflicts(site: Site) -> Iterator[Conflict]:
    """Yield every value that breaks what is rendered, or that nothing reads."""
    yield from if_true(site, OWNED, f"{TEMPLATES}/validations.yaml, clusterpolicy.yaml")
    yield from if_true(site, APPLIED, f"{TEMPLATES}/upgrade_crd.yaml", breaks=False)
    if stated(site, "draDriver") and stated(site, "gpuCluster.deployCR") is not True:
        message = "draDriver has no effect without a GPUCluster, which Trainyard does not render; remove it"
        yield Conflict("draDriver", message, f"{TEMPLATES}/gpucluster.yaml", breaks=False)
    yield from check_release(site)
    yield from check_objects(site)
    yield from check_parts(site)
    yield from check_nodes(site)
    yield from check_upgrades(site)
    for path in ("daemonsets.tolerations", "node-feature-discovery.worker.tolerations"):
        yield from check_tolerations(site, path, nvidia_pools(site.cluster), CONTROLLER)
    yield from check_features(site, "node-feature-discovery.")


def check_release(site: Site) -> Iterator[Conflict]:
    """Yield a release of the driver that no pool gets, because fields name another one, or their image brings it."""
    said, path, cluster = stated(site, "driver.version"), "driver.version", site.cluster
    found = installs(cluster)
    if said is None or not found or said in {version(site, name) for name in found}:
        return
    source = f"{TEMPLATES}/clusterpolicy.yaml, nvidiadriver.yaml"
    name = next((name for name, install in found.items() if install.driver == "operator"), None)
    if name is None:
        if said == site.components.get("driver", {}).get("version"):
            return
        message = "driver.version has no effect, as the nodes' image brings the driver; use system.gpuDriverVersion"
        yield Conflict(path, message, source, breaks=False, shared=(("system", "gpuDriver"),))
        return
    own = cluster.pools[name].system.gpu_driver_version is not None
    field: Path = (*(("pools", name) if own else ()), "system", "gpuDriverVersion")
    message = f"driver.version is {said}, but {'.'.join(map(str, field))} is {version(site, name)}; keep one of them"
    yield Conflict(path, message, source, shared=(field,))


def check_objects(site: Site) -> Iterator[Conflict]:
    """Yield values by which the operator ignores NVIDIADrivers of ours, or gets one that the chart makes."""
    path, source = "driver.nvidiaDriverCRD", f"{TEMPLATES}/nvidiadriver.yaml; internal/state/driver.go"
    enabled = stated(site, f"{path}.enabled")
    if enabled is False and by_pool(site.cluster):
        message = f"{path}.enabled is false, but pools have drivers of their own, as NVIDIADrivers; remove it"
        yield Conflict(f"{path}.enabled", message, source)
    elif enabled is True and stated(site, f"{path}.deployDefaultCR") is not False:
        message = (
            f"{path}.enabled makes an NVIDIADriver of the chart's own; set deployDefaultCR: false, or use "
            "gpuDriverVersion of a pool"
        )
        yield Conflict(f"{path}.enabled", message, source)


def check_parts(site: Site) -> Iterator[Conflict]:
    """Yield parts that are off though pools need them; another program may do the work of some."""
    cluster = site.cluster
    ours = {
        section
        for section in ("driver", "toolkit", "devicePlugin")
        if cluster_install(cluster).values[section]["enabled"]
    }
    if not nvidia_pools(cluster):
        return
    if "driver" in ours:
        other = "system" in cluster.distribution.gpus.driver
        instead = "set system: {gpuDriver: system} instead" if other else "remove it"
        why = f"gpuDriver is 'operator'; {instead}"
        yield from if_false(site, {"driver.enabled": why}, CONTROLLER, breaks=False)
    if "devicePlugin" in ours:
        why = "then nodes advertise no nvidia.com/gpu; remove it, unless another plugin does"
        yield from if_false(site, {"devicePlugin.enabled": why}, CONTROLLER, breaks=False)
    if "toolkit" in ours:
        why = "then containers get no GPUs; remove it, unless the node image has the toolkit"
        yield from if_false(site, {"toolkit.enabled": why}, CONTROLLER, breaks=False)
    cut = next((name for name, pool in cluster.pools.items() if pool.mig is not None), None)
    if cut is not None:
        why = f"it cuts the GPUs of pool {cut!r}; remove it"
        yield from if_false(site, {"migManager.enabled": why}, CONTROLLER)


def check_nodes(site: Site) -> Iterator[Conflict]:
    """Yield folders and settings that are not those of the nodes' distribution."""
    ours, title = cluster_install(site.cluster).values, site.cluster.distribution.title
    for section, field in (("hostPaths", "driverInstallDir"), ("toolkit", "installDir"), ("operator", "runtimeClass")):
        path, derived = f"{section}.{field}", ours.get(section, {}).get(field)
        said = stated(site, path)
        if derived is not None and said is not None and said != derived:
            message = f"{path} is {said}, but on {title} it is {derived}; remove it"
            yield Conflict(path, message, CONTROLLER, breaks=False, shared=(("system", "distribution"),))
    said, derived = stated(site, "toolkit.env"), ours["toolkit"].get("env", [])
    if not isinstance(said, list | tuple):
        return
    there = values(said)
    for item in derived:
        name, value = item["name"], item["value"]
        if name not in there:
            message = f"toolkit.env replaces the derived list and misses {name} of {title}; add it"
        elif differs(there[name], value):
            message = f"toolkit.env sets {name} to {there[name]}, but on {title} it is {value}; correct it"
        else:
            continue
        yield Conflict("toolkit.env", message, CONTROLLER, shared=(("system", "distribution"),))
        return


def check_upgrades(site: Site) -> Iterator[Conflict]:
    """Yield a policy of upgrades that ends all runs at the same time, never begins, or does not get past a run.

    Its two bounds count together: 0 in parallel is no bound, and 25% of the nodes may be out of use by default.
    """
    path = "driver.upgradePolicy"
    if stated(site, f"{path}.autoUpgrade") is not True:
        return
    parallel, out = (stated(site, f"{path}.{name}") for name in ("maxParallelUpgrades", "maxUnavailable"))
    if parallel == 0 and str(out) == "100%":
        message = f"{path} upgrades all nodes at once, which ends every run; lower maxUnavailable"
        yield Conflict(f"{path}.maxUnavailable", message, UPGRADES, breaks=False)
    if out is not None and str(out) in {"0", "0%"}:
        message = f"{path}.maxUnavailable is {out}, so no node ever gets another driver; use 1 or more"
        yield Conflict(f"{path}.maxUnavailable", message, UPGRADES)
    yield from check_eviction(site, path)


def check_eviction(site: Site, path: str) -> Iterator[Conflict]:
    """Yield a policy under which pods with an emptyDir, such as that of every run for /dev/shm, stay on their node.

    The node is then upgrade-failed: it stays cordoned with the old driver, until a person deletes the pods.
    """
    ways = {"gpuPodDeletion": True, "podDeletion": True, "drain": stated(site, f"{path}.drain.enable") is True}
    if any(used and stated(site, f"{path}.{way}.deleteEmptyDir") is True for way, used in ways.items()):
        return
    way = next((way for way in ways if stated(site, f"{path}.{way}.deleteEmptyDir") is False), None)
    message = (
        f"autoUpgrade is true, but pods with /dev/shm are not evicted; set {path}.gpuPodDeletion.deleteEmptyDir: true"
    )
    yield Conflict(f"{path}.{way}.deleteEmptyDir" if way else f"{path}.autoUpgrade", message, EVICTION)


def values(items: Any) -> dict[Any, Any]:
    """Return the values of a list of named items, by name."""
    return {item.get("name"): item.get("value") for item in items if isinstance(item, Mapping)}


def differs(said: Any, derived: str) -> bool:
    """Whether a value means something else; a source of configuration may name its file behind `=`."""
    plain = str(said).removeprefix("unix://").replace("/var/run/", "/run/", 1)
    return plain != derived and not plain.startswith(f"{derived}=")

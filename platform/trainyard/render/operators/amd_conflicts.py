"""Values of AMD's chart that do not go with the DeviceConfigs of `hardware/`.

Facts: ROCm/gpu-operator v1.5.1 helm-charts-k8s/templates, internal/validator/specValidators.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.base.documents import Path
from trainyard.render.operators.base import Conflict, Site
from trainyard.render.operators.stated_values import check_tolerations, if_false, if_true, stated
from trainyard.specs import Pool
from trainyard.specs.models.system import System

CHART = "ROCm/gpu-operator v1.5.1 helm-charts-k8s/templates"
VALIDATORS = "ROCm/gpu-operator v1.5.1 internal/validator/specValidators.go"
SPEC = "deviceConfig.spec"

OWNED = dict.fromkeys(
    ("crds.defaultCR.install", "crds.defaultCR.upgrade"),
    "hardware/ has a DeviceConfig for each pool already; remove it",
)
REPAIRS = {"remediation.enabled": "Argo CD's project of operators allows no PriorityClass, which it brings; remove it"}
APPLIED = {"upgradeCRD": "Argo CD applies the definitions already; remove it"}


def conflicts(site: Site, systems: Mapping[str, System], profiles: Mapping[str, str]) -> Iterator[Conflict]:
    """Yield every value that breaks what is rendered.

    `systems` are what the file states of each AMD pool, `profiles` the ConfigMaps of those with partitions.
    """
    yield from if_true(site, OWNED, f"{CHART}/default-deviceconfig.yaml")
    yield from if_true(site, REPAIRS, f"{CHART}/remediation-deployment.yaml")
    yield from if_true(site, APPLIED, f"{CHART}/pre-upgrade-hook.yaml", breaks=False)
    if not systems:
        return
    pools = {name: site.cluster.pools[name] for name in systems}
    selector = stated(site, f"{SPEC}.selector")
    selecting = {label for name in systems for label in site.cluster.selector_of(name)}
    if isinstance(selector, Mapping) and (shared := sorted(selecting & selector.keys())):
        message = f"{SPEC}.selector gives all pools the label {shared[0]} of one; remove it"
        yield Conflict(f"{SPEC}.selector", message, VALIDATORS)
    yield from check_driver(site, systems)
    yield from check_plugin(site)
    yield from check_partitions(site, pools, profiles)
    for part in ("devicePlugin", "nodeLabeller"):
        path = f"{SPEC}.devicePlugin.{part}Tolerations"
        yield from check_tolerations(site, path, pools, f"{CHART}/default-deviceconfig.yaml")


def check_driver(site: Site, systems: Mapping[str, System]) -> Iterator[Conflict]:
    """Yield a driver that values turn on or off, or whose release they name, against the fields of a pool."""
    enabled, release = (stated(site, f"{SPEC}.driver.{field}") for field in ("enable", "version"))
    source = f"{CHART}/default-deviceconfig.yaml"
    for name, system in systems.items():
        wanted = system.gpu_driver == "operator"
        at: Path = ("pools", name, "system")
        if isinstance(enabled, bool) and enabled is not wanted and (enabled or system.gpu_driver is not None):
            field = "operator" if enabled else "system"
            message = f"{SPEC}.driver.enable is {str(enabled).lower()}; set system: {{gpuDriver: {field}}} of {name!r}"
            yield Conflict(f"{SPEC}.driver.enable", message, source, breaks=not enabled, shared=((*at, "gpuDriver"),))
            return
        own = system.gpu_driver_version
        if release is not None and own is not None and str(release) != own:
            message = f"{SPEC}.driver.version is {release}, but gpuDriverVersion of {name!r} is {own}; keep one of them"
            yield Conflict(f"{SPEC}.driver.version", message, source, shared=((*at, "gpuDriverVersion"),))
            return
    asked = any(system.gpu_driver == "operator" for system in systems.values())
    if release is not None and enabled is not True and not asked:
        message = f"{SPEC}.driver.version has no effect unless gpuDriver is 'operator'; use gpuDriverVersion of pools"
        yield Conflict(f"{SPEC}.driver.version", message, source, breaks=False)
    elif asked:
        why = "it loads the driver, which gpuDriver leaves to the operator; remove it"
        yield from if_false(site, {"kmm.enabled": why}, "ROCm/gpu-operator v1.5.1 helm-charts-k8s/Chart.yaml")


def check_plugin(site: Site) -> Iterator[Conflict]:
    """Yield a device plugin that is off, or that the operator refuses beside its driver for dynamic allocation."""
    plugin = f"{SPEC}.devicePlugin.enableDevicePlugin"
    if stated(site, plugin) is False:
        why = "then nodes advertise no amd.com/gpu; remove it, unless another plugin does"
        yield from if_false(site, {plugin: why}, VALIDATORS, breaks=False)
    else:
        why = f"the operator refuses it beside the device plugin; set {plugin}: false"
        yield from if_true(site, {f"{SPEC}.draDriver.enable": why}, VALIDATORS)


def check_partitions(site: Site, pools: Mapping[str, Pool], profiles: Mapping[str, str]) -> Iterator[Conflict]:
    """Yield values that keep the device config manager from the profile of a pool."""
    manager, source = f"{SPEC}.configManager", f"{CHART}/default-deviceconfig.yaml"
    named = stated(site, f"{manager}.config.name")
    for name, profile in list(profiles.items())[:1]:
        why = f"it partitions the GPUs of pool {name!r}; remove it"
        yield from if_false(site, {f"{manager}.enable": why}, source)
        yield from check_tolerations(site, f"{manager}.configManagerTolerations", {name: pools[name]}, source)
        if named is not None and (named != profile or len(profiles) > 1):
            message = f"{manager}.config replaces the profile of pool {name!r}; remove it"
            yield Conflict(f"{manager}.config", message, source)

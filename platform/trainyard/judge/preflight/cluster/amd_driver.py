"""Whether AMD's operator can install the driver that the cluster's file leaves to it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.amd_gpu_operator import pools, stated
from trainyard.render.sizing.software import refusal
from trainyard.specs import Cluster
from trainyard.specs.releases.facts import lookup
from trainyard.specs.sources import Source

OPERATOR = "amd-gpu-operator"

DISTRIBUTIONS = "docs/reference/distributions.md"
"""Where images of nodes are whole: no container builds a module for them, or loads one."""

DRIVER = Rule(
    id="gpu-driver-amd",
    title="AMD's operator has all that it needs to install a driver: itself, a release, and a registry.",
    why="it builds an image of the driver for each kernel and pushes it, so that otherwise no GPU is advertised",
    fix="set gpuDriverVersion, and values.deviceConfig.spec.driver.image of amd-gpu-operator; or gpuDriver: system",
    source="ROCm/gpu-operator v1.5.1 docs/drivers/installation.md, api/v1alpha1/deviceconfig_types.go",
    layer="pairing",
)


@CLUSTER.check(after=("inventory.check_shapes",))
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield pools whose driver AMD's operator is to install and cannot."""
    choice = cluster.operators.get(OPERATOR)
    for name in pools(cluster):
        system = stated(cluster, name)
        if system.gpu_driver != "operator":
            continue
        at: Path = ("pools", name, "system") if cluster.pools[name].system.gpu_driver else ("system",)
        facts = cluster.distribution_of(name)
        if "operator" not in facts.gpus.driver:
            message = f"gpuDriver is 'operator', but on {facts.title} only the node's image brings amdgpu; remove it"
            yield DRIVER.at(source, (*at, "gpuDriver"), message, source=DISTRIBUTIONS)
            continue
        if choice is not None and not choice.managed and refusal(facts, OPERATOR) is not None:
            continue
        if choice is None or not choice.managed:
            message = f"gpuDriver 'operator' of pool {name!r} needs {OPERATOR}; add it to operators"
            yield DRIVER.at(source, (*at, "gpuDriver"), message)
            continue
        if system.gpu_driver_version is None:
            message = f"gpuDriver 'operator' of pool {name!r} needs a release; set gpuDriverVersion, such as '30.20.1'"
            yield DRIVER.at(source, (*at, "gpuDriver"), message)
        if lookup(choice.values, "deviceConfig.spec.driver.image") is None:
            message = (
                f"{OPERATOR} pushes drivers to a registry, but names none; "
                "set values.deviceConfig.spec.driver.image, without a tag"
            )
            yield DRIVER.at(source, ("operators", OPERATOR), message, key=True)

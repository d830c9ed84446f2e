"""Settings of nodes for Talos: one patch of the machine configuration, in the form of its release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.labels import POOL
from trainyard.base.versions import order
from trainyard.render.clusters.node_parts import OPEN, PAGES_SETTING, Needs, add_comment, rlimit, write_yaml
from trainyard.render.parts.objects import PlainFile

DOCUMENTS = "1.14"
"""First release whose `gen config` writes documents for the kubelet, and refuses the older fields beside them.

siderolabs/talos v1.14.0-rc.1 pkg/machinery/config/generate/init.go, types/k8s/kubelet.go V1Alpha1ConflictValidate.
"""

FILE = "talos.yaml"


def patch(needs: Needs) -> Iterator[PlainFile]:
    """Yield one patch of the machine configuration.

    Fields that Talos keeps for itself (talos v1.13 pkg/machinery/kubelet/kubelet.go) are none of ours.
    """
    if not needs.any:
        return
    parts = list(documents(needs)) if has_documents(needs) else [fields(needs)]
    text = "patch of the machine configuration, for `talosctl gen config --config-patch`"
    if adds_up(parts):
        text += "; apply it once: lists add up"
    yield PlainFile(FILE, add_comment(text, "---\n".join(write_yaml(part) for part in parts)), needs.at)


def has_documents(needs: Needs) -> bool:
    """Whether the machine configuration has a document for each subject."""
    return order(needs.version or "0") >= order(DOCUMENTS)


def restarts(needs: Needs) -> str:
    """Return the end of a sentence about the restart that the patch causes on a running node.

    siderolabs/talos v1.13.9 internal/app/machined/pkg/runtime/v1alpha1/v1alpha1_runtime.go CanApplyImmediate: all but
    the limit; v1.14.0-rc.1 pkg/machinery/config/types/cri/base_runtime_spec.go.
    """
    if not needs.memlock:
        return ""
    return ", which restarts the container runtime" if has_documents(needs) else ", which reboots the node"


def fields(needs: Needs) -> dict[str, Any]:
    """Return the patch for releases whose machine configuration is one document with fields for everything."""
    machine: dict[str, Any] = {}
    if needs.memlock:
        machine["baseRuntimeSpecOverrides"] = {"process": {"rlimits": [rlimit()]}}
    if needs.load:
        machine["kernel"] = {"modules": [{"name": module} for module in needs.load]}
    if needs.pages:
        machine["sysctls"] = {PAGES_SETTING: str(needs.pages)}
    if needs.kubelet is not None:
        machine["kubelet"] = {"extraConfig": needs.kubelet}
    if sets_label(needs):
        machine["nodeLabels"] = {POOL: needs.pool}
    if needs.open_devices:
        machine["udev"] = {"rules": list(OPEN)}
    return {"machine": machine}


def documents(needs: Needs) -> Iterator[dict[str, Any]]:
    """Yield the patch for releases that have a document for each subject; one of the same kind and name is merged.

    siderolabs/talos v1.14.0-rc.1 pkg/machinery/config/types: cri/base_runtime_spec.go, k8s/kubelet.go,
    k8s/node.go, runtime/kernel_module.go, runtime/sysctl.go, runtime/udev_rules.go.
    """
    if needs.memlock:
        yield document("CRIBaseRuntimeSpecConfig", overrides={"process": {"rlimits": [rlimit()]}})
    for module in needs.load:
        yield document("KernelModuleConfig", name=module)
    if needs.pages:
        yield document("SysctlConfig", params={PAGES_SETTING: str(needs.pages)})
    if needs.kubelet is not None:
        yield document("KubeletConfig", config=needs.kubelet)
    if sets_label(needs):
        yield document("KubeNodeConfig", labels={POOL: needs.pool})
    if needs.open_devices:
        yield document("UdevRulesConfig", rules=list(OPEN))


def sets_label(needs: Needs) -> bool:
    """Whether nodes are selected by our own label, and not by those of somebody else."""
    return needs.selector == {POOL: needs.pool}


def document(kind: str, **content: Any) -> dict[str, Any]:
    """Return a document of the machine configuration."""
    return {"apiVersion": "v1alpha1", "kind": kind, **content}


def adds_up(value: Any) -> bool:
    """Whether a patch that is applied again adds its lists a second time.

    Lists are appended, but the overrides of a document are replaced (talos v1.14.0-rc.1 pkg/machinery/config/merge).
    """
    if isinstance(value, Mapping):
        return value.get("kind") != "CRIBaseRuntimeSpecConfig" and any(
            isinstance(item, list) or adds_up(item) for item in value.values()
        )
    return isinstance(value, list) and any(adds_up(item) for item in value)

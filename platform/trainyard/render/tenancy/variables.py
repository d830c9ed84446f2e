"""Variables of containers: where their values come from, and none by which a runtime shows devices.

A runtime obeys a variable whoever sets it. One that is set by name is seen here. All keys of a Secret or a ConfigMap
come by `envFrom`, so that their keys are looked at where these are written, and here what is put before a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.render.tenancy.shapes import ANY, Condition, Fields, Listed, Shape

VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "TPU_VISIBLE_DEVICES")
"""Variables that libraries read, which can only take away from what a container has."""

GPUS = "NVIDIA_VISIBLE_DEVICES"
"""Which of a node's GPUs NVIDIA's runtime shows."""

DEVICES = (
    *("NVIDIA_MIG_CONFIG_DEVICES", "NVIDIA_MIG_MONITOR_DEVICES", "NVIDIA_IMEX_CHANNELS", "NVIDIA_MOFED"),
    *("NVIDIA_GDS", "NVIDIA_NVSWITCH", "NVIDIA_GDRCOPY", "NVIDIA_CTK_MODE"),
)
"""Variables that NVIDIA's runtime reads beside NVIDIA_VISIBLE_DEVICES, each of which adds devices of the node.

Source: NVIDIA/nvidia-container-toolkit v1.18 internal/config/image/envvars.go.
"""

END = "VISIBLE_DEVICES"
"""What variables end in by which runtimes show devices, of whichever vendor."""

NOTHING = ("", "void", "none")
"""Values by which a runtime shows no device."""


def in_cel(texts: tuple[str, ...]) -> str:
    """Return texts as a list in CEL."""
    return "[" + ", ".join(f"'{text}'" for text in texts) + "]"


def shows_devices(name: Any) -> bool:
    """Whether a runtime takes a variable of this name for devices to show, of whichever vendor."""
    return isinstance(name, str) and (name in DEVICES or (name.endswith(f"_{END}") and name not in VISIBLE))


HIDES = Condition(
    lambda value, _about: (
        not isinstance(value, Mapping)
        or not shows_devices(value.get("name"))
        or (not value.get("valueFrom") and (value.get("value") or "") in NOTHING)
    ),
    f"!({{x}}.name in {in_cel(DEVICES)} || ({{x}}.name.endsWith('_{END}') && !({{x}}.name in {in_cel(VISIBLE)}))) || "
    f"(!has({{x}}.valueFrom) && (!has({{x}}.value) || {{x}}.value in {in_cel(NOTHING)}))",
    "variable {name} gives a container devices of its node; request GPUs by gpusPerNode",
    subject="device",
    at=("value",),
)

NAMES = f"{{x}} in {in_cel(DEVICES)} || ({{x}}.endsWith('{END}') && !({{x}} in {in_cel(VISIBLE)}))"
"""In CEL, whether a key of a Secret or a ConfigMap shows devices as a variable, whatever is put before it."""


PARTS = tuple(f"_{END[:count]}" for count in range(1, len(END) + 1))
"""What a prefix may not end in, or a key brings the rest."""


def begins(prefix: Any) -> bool:
    """Whether a prefix has the beginning of a name by which a runtime shows devices, of which a key would be the end.

    A key that is such a name by itself is refused where it is written.
    """
    if not isinstance(prefix, str) or not prefix:
        return not isinstance(prefix, str)
    return prefix.endswith(PARTS) or any(name.startswith(prefix) for name in (GPUS, *DEVICES))


PREFIX = Condition(
    lambda value, _about: not begins(value),
    f"{{x}} == '' || !({in_cel((GPUS, *DEVICES))}.exists(d, d.startsWith({{x}})) || "
    f"{in_cel(PARTS)}.exists(d, {{x}}.endsWith(d)))",
    "prefix {name} can form a variable that gives devices; list single variables under secrets",
    subject="device",
)

SECRET = Listed("secrets", "secret")
CONFIG = Listed("configmaps", "config map", own="name")
"""The run's own is called as the run."""


def reference(shape: Shape) -> Fields:
    """Return a reference to a Secret or a ConfigMap, which must have a name."""
    return Fields("a reference", {"name": shape, "key": ANY, "optional": ANY}, required=("name",))


OF_SECRET = {"secretKeyRef": "secret", "secretRef": "secret", "configMapKeyRef": "config", "configMapRef": "config"}

VARIABLE = Fields(
    "a variable",
    {
        "name": ANY,
        "value": ANY,
        "valueFrom": Fields(
            "a variable's source",
            {
                "fieldRef": ANY,
                "resourceFieldRef": ANY,
                "fileKeyRef": ANY,
                "secretKeyRef": reference(SECRET),
                "configMapKeyRef": reference(CONFIG),
            },
            OF_SECRET,
        ),
    },
    conditions=(HIDES,),
)
SOURCE = Fields(
    "a source of variables",
    {
        "prefix": PREFIX,
        "secretRef": reference(SECRET),
        "configMapRef": reference(Listed("configmaps", "config map")),
    },
    OF_SECRET,
)

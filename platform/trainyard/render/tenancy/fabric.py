"""What a fabric brings to a pod beside its program: a daemon, root with its capabilities, and nothing else than it is.

What it is comes from where it is rendered (`sizing/fabrics`), by the lists of the allowance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.render.tenancy.daemons import describe_volume, line
from trainyard.render.tenancy.shapes import ANY, About, Condition, Fields, Items, Listed, only


def of(pod: Any, field: str) -> list[Mapping[str, Any]]:
    """Return the maps in a list of a pod."""
    listed = pod.get(field) if isinstance(pod, Mapping) else None
    return [container for container in listed if isinstance(container, Mapping)] if isinstance(listed, list) else []


def is_fabrics(value: Any, about: About) -> bool:
    """Whether a container is the fabric's: by its image and by what it runs."""
    lists = about.allowance.lists
    return (
        isinstance(value, Mapping)
        and value.get("image") in lists["images"]
        and line(value.get("command")) in lists["commands"]
    )


IS_FABRICS = (
    "has({x}.image) && {x}.image in variables.images && {x}.?command.orValue([]).join('\\n') in variables.commands"
)
OF_FABRIC = Condition(is_fabrics, IS_FABRICS, "")
"""Which of two shapes a container has."""


def own_containers(pod: Any, about: About) -> list[Mapping[str, Any]]:
    """Return a pod's containers that are not the fabric's, which is an init container: some operators start the others.

    (KubeRay writes a line of its own, of what the team says, into the first: kuberay v1.6.2 controllers/ray/common.)
    """
    return [
        *of(pod, "containers"),
        *(container for container in of(pod, "initContainers") if not is_fabrics(container, about)),
    ]


STARTS = "{x}.?initContainers.orValue([])"
OF_FABRIC_C = IS_FABRICS.replace("{x}", "c")
OWN = f"({{x}}.?containers.orValue([]) + {STARTS}.filter(c, !({OF_FABRIC_C})))"
BROUGHT = f"{STARTS}.filter(c, {OF_FABRIC_C})"
"""In CEL, the containers of a pod `{x}` that are its own, and those of the fabric."""

PROBED = Condition(
    lambda value, about: line(value) in about.allowance.lists["daemonprobes"],
    "{x}.join('\\n') in variables.daemonprobes",
    "a patch changes the probe of the fabric's container; remove the patch",
    subject="security",
)
SET = Condition(
    lambda value, about: (
        isinstance(value, Mapping)
        and f"{value.get('name')}={value.get('value', '')}" in about.allowance.lists["daemonenv"]
    ),
    "{x}.name + '=' + {x}.?value.orValue('') in variables.daemonenv",
    "variable {name} of the fabric's container differs from the fabric's value; remove the patch",
    subject="security",
)
MOUNTED = Condition(
    lambda value, about: (
        isinstance(value, Mapping)
        and f"{value.get('name')}={value.get('mountPath')}" in about.allowance.lists["daemonmounts"]
    ),
    "{x}.name + '=' + {x}.mountPath in variables.daemonmounts",
    "a container of the fabric mounts {name} where the fabric does not; remove the patch",
    subject="security",
)

FABRIC = Fields(
    "a container of the fabric",
    {
        **dict.fromkeys(("command", "image", "imagePullPolicy", "resources", "restartPolicy"), ANY),
        **dict.fromkeys(("terminationMessagePolicy", "terminationMessagePath"), ANY),
        "env": Items(Fields("a variable", {"name": ANY, "value": ANY}, conditions=(SET,))),
        "name": Listed("daemons", "container of the fabric"),
        "securityContext": Fields(
            "a security context",
            {
                "allowPrivilegeEscalation": only(False),
                "capabilities": Fields("capabilities", {"add": Items(Listed("needs", "capability"))}),
                "runAsNonRoot": ANY,
                "runAsUser": ANY,
            },
        ),
        "startupProbe": Fields(
            "a probe",
            {
                **dict.fromkeys(("failureThreshold", "periodSeconds", "successThreshold", "timeoutSeconds"), ANY),
                "initialDelaySeconds": ANY,
                "exec": Fields("a probe", {"command": PROBED}),
            },
        ),
        "volumeMounts": Items(
            Fields("a mount", dict.fromkeys(("mountPath", "name", "readOnly"), ANY), conditions=(MOUNTED,))
        ),
    },
    {"env": "security", "name": "security", "volumeMounts": "security"},
)
"""Of a container whose image and command are the fabric's."""

NAME = Condition(
    lambda value, about: value not in about.allowance.lists["daemons"],
    "!({x} in variables.daemons)",
    "container {name} has the name of the fabric's container, which gets its devices; rename it",
    subject="device",
)
"""Devices are given to the fabric's container by its name, a word of an annotation (`sizing/fabrics/daemon`)."""


def has_volumes(pod: Any, about: About) -> bool:
    """Whether the volumes that a fabric's container mounts are the fabric's: what it loads is in them."""
    lists = about.allowance.lists
    names = [daemonmount.partition("=")[0] for daemonmount in lists["daemonmounts"]]
    return all(
        describe_volume(volume) in lists["daemonvolumes"]
        for volume in of(pod, "volumes")
        if volume.get("name") in names
    )


VOLUMES = Condition(
    has_volumes,
    "size(variables.daemonmounts) == 0 || {x}.?volumes.orValue([]).all(v, "
    "!variables.daemonmounts.exists(m, m.startsWith(v.name + '=')) || v.name + '=' + "
    "(has(v.hostPath) ? v.hostPath.path : has(v.emptyDir) ? 'emptyDir' : '') in variables.daemonvolumes)",
    "volumes that the fabric's container mounts differ from the fabric's; remove the patch",
    "volume",
    ("volumes",),
)

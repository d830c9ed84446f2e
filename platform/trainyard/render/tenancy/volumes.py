"""Volumes of pods: what is the run's own, and the team's; of the node what its fabric needs.

Facts: kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go Volume.
"""

from __future__ import annotations

from trainyard.render.tenancy.daemons import describe_volume
from trainyard.render.tenancy.images import IMAGE
from trainyard.render.tenancy.shapes import ANY, Condition, Fields, Items, Listed
from trainyard.render.tenancy.variables import CONFIG, SECRET

ITEMS = {"items": ANY, "optional": ANY, "defaultMode": ANY}
OF_NODE = Condition(
    lambda value, about: value.get("hostPath") is None or describe_volume(value) in about.allowance.lists["hostpaths"],
    "!has({x}.hostPath) || {x}.hostPath == null || "
    "{x}.name + '=' + {x}.hostPath.?path.orValue('') in variables.hostpaths",
    "volume {name} is a host path that the fabric does not use; remove it",
    at=("hostPath",),
)
VOLUME = Fields(
    "a volume",
    {
        "name": ANY,
        "emptyDir": ANY,
        "downwardAPI": ANY,
        "configMap": Fields("a volume", {**ITEMS, "name": CONFIG}),
        "secret": Fields("a volume", {**ITEMS, "secretName": SECRET}),
        "persistentVolumeClaim": Fields("a volume", {"claimName": Listed("claims", "claim"), "readOnly": ANY}),
        "projected": Fields(
            "a volume",
            {
                "defaultMode": ANY,
                "sources": Items(
                    Fields(
                        "a source of files",
                        {
                            "downwardAPI": ANY,
                            "serviceAccountToken": ANY,
                            "configMap": Fields("a source of files", {**ITEMS, "name": CONFIG}),
                            "secret": Fields("a source of files", {**ITEMS, "name": SECRET}),
                        },
                        {"configMap": "config", "secret": "secret"},
                    )
                ),
            },
        ),
        "hostPath": Fields("a volume", {"path": ANY, "type": ANY}, required=("path",)),
        "ephemeral": Fields(
            "a volume",
            {
                "volumeClaimTemplate": Fields(
                    "a claim",
                    {
                        "metadata": Fields("a claim", {"creationTimestamp": ANY}),
                        "spec": Fields(
                            "a claim",
                            {
                                **dict.fromkeys(("accessModes", "resources", "volumeMode"), ANY),
                                "storageClassName": Listed("scratch", "storage class"),
                            },
                            required=("storageClassName",),
                        ),
                    },
                )
            },
        ),
        "image": Fields("a volume", {"reference": IMAGE, "pullPolicy": ANY}),
    },
    {"configMap": "config", "secret": "secret", "image": "image"},
    conditions=(OF_NODE,),
)

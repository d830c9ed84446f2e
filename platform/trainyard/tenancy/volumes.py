"""Volumes of pods: what is the run's own, and the team's; of the node what its fabric needs.

Facts: kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go Volume.
"""

from __future__ import annotations

from trainyard.tenancy.images import IMAGE
from trainyard.tenancy.shapes import ANY, Fields, Items, Listed
from trainyard.tenancy.variables import CONFIG, SECRET

ITEMS = {"items": ANY, "optional": ANY, "defaultMode": ANY}
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
        "hostPath": Fields(
            "a volume", {"path": Listed("hostpaths", "path of the node"), "type": ANY}, required=("path",)
        ),
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
)

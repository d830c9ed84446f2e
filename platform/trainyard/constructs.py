"""Constructs for cdk8s programs, from `trainyard.change.constructs`. Importing it starts Node."""

from trainyard.change.constructs.base import Foreign, Objects
from trainyard.change.constructs.cluster import (
    ArgoCd,
    ArgoCdSettings,
    CheckpointClaims,
    FabricNetworks,
    Hardware,
    KubeletSettings,
    Monitoring,
    OperatorInstall,
    Platform,
    QueueSet,
    TeamRuns,
    TeamSpace,
    VirtualCluster,
)
from trainyard.change.constructs.programs import Here
from trainyard.change.constructs.run import TrainingRun
from trainyard.change.constructs.site import Site, Space

__all__ = [
    "ArgoCd",
    "ArgoCdSettings",
    "CheckpointClaims",
    "FabricNetworks",
    "Foreign",
    "Hardware",
    "Here",
    "KubeletSettings",
    "Monitoring",
    "Objects",
    "OperatorInstall",
    "Platform",
    "QueueSet",
    "Site",
    "Space",
    "TeamRuns",
    "TeamSpace",
    "TrainingRun",
    "VirtualCluster",
]

"""Everything that Trainyard renders as documented cdk8s constructs, for programs of one's own and for `synth`.

Importing any of it starts Node, and nothing else of Trainyard does. docs/cdk8s.md shows both ways to use it.
"""

from trainyard.base.errors import ToolError
from trainyard.base.system.node import node_folder, not_started, point_jsii_at_node

point_jsii_at_node()

try:
    with node_folder():
        import cdk8s as _cdk8s  # noqa: F401 - started here, where what is wrong can be said
except Exception as error:  # jsii's own class, or RuntimeError, where it cannot unpack itself or start Node
    raise ToolError(not_started(error)) from error

from trainyard.change.constructs.base import Foreign, Objects  # noqa: E402 - after Node is named
from trainyard.change.constructs.cluster import (  # noqa: E402 - after Node is named
    ArgoCd,
    ArgoCdSettings,
    CheckpointClaims,
    FabricNetworks,
    Hardware,
    KubeletSettings,
    OperatorInstall,
    Platform,
    QueueSet,
    TeamRuns,
    TeamSpace,
)
from trainyard.change.constructs.programs import Here  # noqa: E402 - after Node is named
from trainyard.change.constructs.run import TrainingRun  # noqa: E402 - after Node is named
from trainyard.change.constructs.site import Site, Space  # noqa: E402 - after Node is named

__all__ = [
    "ArgoCd",
    "ArgoCdSettings",
    "CheckpointClaims",
    "FabricNetworks",
    "Foreign",
    "Hardware",
    "Here",
    "KubeletSettings",
    "Objects",
    "OperatorInstall",
    "Platform",
    "QueueSet",
    "Site",
    "Space",
    "TeamRuns",
    "TeamSpace",
    "TrainingRun",
]

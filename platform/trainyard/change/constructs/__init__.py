"""Everything that Trainyard renders as documented cdk8s constructs, for programs of one's own and for `synth`.

Importing any of its modules starts Node, and nothing else of Trainyard does. `trainyard.constructs` lists the public
names; docs/cdk8s.md shows both ways to use them.
"""

from trainyard.base.errors import ToolError
from trainyard.base.system.node import node_folder, not_started, point_jsii_at_node

point_jsii_at_node()

try:
    with node_folder():
        import cdk8s as _cdk8s  # noqa: F401 - started here, where what is wrong can be said
except Exception as error:  # jsii's own class, or RuntimeError, where it cannot unpack itself or start Node
    raise ToolError(not_started(error)) from error

"""What charts are assembled from: objects, pods, networks, storage. Importing any of it starts Node."""

from trainyard.errors import ToolError
from trainyard.system.node import point_jsii_at_node

point_jsii_at_node()

try:
    import cdk8s as _cdk8s  # noqa: F401 - started here, where what is wrong can be said
except Exception as error:  # jsii's own class, or RuntimeError, where it cannot unpack itself or start Node
    raise ToolError(f"cdk8s did not start: {error}") from error

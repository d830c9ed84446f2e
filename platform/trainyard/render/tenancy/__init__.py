"""What a team's run may be on a cluster, stated once over rendered objects: as a check, and as admission policies.

The statement is a table of what is allowed; what it does not name is refused. Tables: `objects`, `workloads`, `pods`,
`containers`, `metadata`. `shapes` reads them in two ways: as Python that finds the place, and as CEL for a cluster.
"""

from trainyard.render.tenancy.allowance import Allowance
from trainyard.render.tenancy.check import breaches
from trainyard.render.tenancy.rules import RULES
from trainyard.render.tenancy.shapes import Breach

__all__ = ["RULES", "Allowance", "Breach", "breaches"]

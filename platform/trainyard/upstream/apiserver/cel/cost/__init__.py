"""What an expression may cost at most, by the bounds of the schema that it reads: so a server decides on a CRD's rules.

`estimate(checked, shape)` walks an expression whose types agree; `shape(schema)` says how large its values may be.
"""

from trainyard.upstream.apiserver.cel.cost.estimate import estimate
from trainyard.upstream.apiserver.cel.cost.ranges import MOST, times
from trainyard.upstream.apiserver.cel.cost.shapes import REQUEST, Shape, shape

__all__ = ["MOST", "REQUEST", "Shape", "estimate", "shape", "times"]

"""Pictures of a cluster: where Kueue would put every declared job, and what that leaves of each queue's quota."""

from trainyard.faces.pictures.decided import Decided, compare, decide
from trainyard.faces.pictures.draw import Picture, pictures

__all__ = ["Decided", "Picture", "compare", "decide", "pictures"]

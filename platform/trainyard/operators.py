"""What packages need that bring their own operators; defined below `trainyard.render`."""

from trainyard.render.operators import Conflict, Operator, Site, operators
from trainyard.render.parts.health import by_field

__all__ = ["Conflict", "Operator", "Site", "by_field", "operators"]

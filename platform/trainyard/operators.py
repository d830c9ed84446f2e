"""What packages need that bring their own operators; defined below `trainyard.render`."""

from trainyard.render.operators import Operator, Site, operators
from trainyard.render.parts.health import by_field

__all__ = ["Operator", "Site", "by_field", "operators"]

"""InfiniBand."""

from trainyard.sizing.fabrics.verbs import Verbs


class InfiniBand(Verbs):
    """Verbs over InfiniBand."""

    name = "infiniband"


FABRIC = InfiniBand()

"""RDMA over Converged Ethernet."""

from trainyard.sizing.fabrics.verbs import Verbs


class Roce(Verbs):
    """Verbs over Ethernet."""

    name = "roce"


FABRIC = Roce()

"""InfiniBand."""

from trainyard.render.sizing.fabrics.verbs import Verbs


class InfiniBand(Verbs):
    """Verbs over InfiniBand: adapters find each other by the subnet manager, so the device alone is enough."""

    name = "infiniband"
    modes = ("none", "sriov", "hostdev", "rdma-shared", "host")


FABRIC = InfiniBand()

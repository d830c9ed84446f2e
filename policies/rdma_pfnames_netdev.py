"""pfNames must contain network devices, not RDMA devices.

Why: The SR-IOV operator compares pfNames with names of network devices. An RDMA device matches no NIC: no virtual
 function is created, and every pod that requests one waits forever.
Fix: write the network device (ens1f0np0, ibp12s0), or use rootDevices with the NIC's PCI address.
Source: k8snetworkplumbingwg/sriov-network-operator v1.6.0 api/v1/helper.go SriovNetworkNicSelector.Selected
"""

import re
from collections.abc import Iterator

from trainyard.checks import Place, Problem, World

RDMA = re.compile(r"(?:mlx[45]_(?:bond_)?\d+|bnxt_re(?:_bond)?\d+|ionic_\d+|irdma\d+|hns_\d+|rxe\d+|roce[op]\d\w*)")


def check(world: World) -> Iterator[Problem]:
    """Check the NICs in every SriovNetworkNodePolicy, without their ranges of virtual functions."""
    for policy in world.of("SriovNetworkNodePolicy"):
        for path, name in policy.at("spec", "nicSelector", "pfNames", "*", of=str):
            if RDMA.fullmatch(name.partition("#")[0]):
                message = f"pfNames has {name!r}, an RDMA device, which matches no NIC; write its network device"
                yield Problem(Place(policy, path), message)

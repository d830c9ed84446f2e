"""A SriovNetworkNodePolicy makes devices that pods can use for RDMA.

Why: The operator's webhook refuses the policy. Where it is off, no NIC is selected, or the virtual functions have no
 RDMA device: pods that request the resource wait for ever, or fall back to TCP.
Fix: use deviceType netdevice with isRdma, name the NICs, and write resourceName without a prefix.
Source: k8snetworkplumbingwg/sriov-network-operator v1.6.0 pkg/webhook/validate.go
 staticValidateSriovNetworkNodePolicy, validatePolicyForNodeState
"""

import re
from collections.abc import Iterator

from trainyard.checks import Manifest, Place, Problem, World

NAME = re.compile(r"[A-Za-z0-9_-]+")
"""Of a resource; older releases refuse dashes, too."""

SELECTORS = ("vendor", "deviceID", "pfNames", "rootDevices", "netFilter")


def check(world: World) -> Iterator[Problem]:
    """Look at every policy but the empty one of old releases."""
    for policy in world.of("SriovNetworkNodePolicy", group="sriovnetwork.openshift.io"):
        if policy.name != "default":
            yield from faults(policy)


def faults(policy: Manifest) -> Iterator[Problem]:
    """Yield the fields that leave no device, or none with RDMA."""
    name = policy.text("spec", "resourceName")
    if name and not NAME.fullmatch(name):
        short = name.rpartition("/")[2]
        message = f"resourceName is {name!r}, but the operator adds the prefix; write letters, digits and _"
        fix = f"write resourceName: {short}" if NAME.fullmatch(short) else None
        yield Problem(Place(policy, ("spec", "resourceName")), message, fix)
    nics = policy.get("spec", "nicSelector")
    if isinstance(nics, dict) and not any(nics.get(field) for field in SELECTORS):
        yield Problem(Place(policy, ("spec", "nicSelector")), "nicSelector names no NIC; add rootDevices or pfNames")
    if policy.get("spec", "numVfs") == 0:
        yield Problem(Place(policy, ("spec", "numVfs")), "numVfs is 0, so no virtual function is made; write 1 or more")
    if policy.get("spec", "isRdma") is True and policy.text("spec", "deviceType") == "vfio-pci":
        message = "deviceType vfio-pci makes no RDMA device, but isRdma is true; use netdevice"
        yield Problem(Place(policy, ("spec", "deviceType")), message)
    if policy.text("spec", "linkType").lower() == "ib" and policy.text("spec", "eSwitchMode") == "switchdev":
        message = "eSwitchMode switchdev is for Ethernet, but linkType is ib; remove eSwitchMode"
        yield Problem(Place(policy, ("spec", "eSwitchMode")), message)

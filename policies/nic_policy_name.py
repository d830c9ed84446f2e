"""A NicClusterPolicy has the one name that the network operator reads.

Why: The operator ignores any other. No driver and no device plugin is installed, and no event shows it.
Fix: name the NicClusterPolicy nic-cluster-policy.
Source: Mellanox/network-operator v26.4.1 controllers/nicclusterpolicy_controller.go handleUnsupportedInstance
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, World

NAME = "nic-cluster-policy"


def check(world: World) -> Iterator[Problem]:
    """Look at the names of all of them."""
    for policy in world.of("NicClusterPolicy", group="mellanox.com"):
        if policy.name and policy.name != NAME:
            message = f"the network operator ignores a NicClusterPolicy named {policy.name!r}; write {NAME}"
            yield Problem(Place(policy, ("metadata", "name")), message)

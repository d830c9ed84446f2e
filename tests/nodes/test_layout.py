"""What the kubelet's decision stands on: so little of ours that it could be a package of its own."""

from __future__ import annotations

from sources import package

ALLOWED = {"nodes", "errors", "labels", "pods", "quantities"}
"""What of ours the package may import, and itself."""


def test_the_package_knows_nothing_of_specs():
    """It imports itself, quantities, labels and errors, and nothing else of ours, so that it judges anybody's node."""
    modules = {name: module for name, module in package().items() if name.startswith("nodes/")}
    assert modules
    ours = {each for module in modules.values() for each in module.imports if each.startswith("trainyard.")}
    assert {each.split(".")[1] for each in ours} == ALLOWED

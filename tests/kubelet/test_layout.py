"""What the kubelet's decision stands on: so little of ours that it could be a package of its own."""

from __future__ import annotations

from sources import package

ALLOWED = {"upstream.kubelet", "upstream.pods", "base.errors", "base.labels", "base.quantities"}
"""What of ours the package may import, and itself."""


def test_the_package_knows_nothing_of_specs():
    """It imports itself, quantities, labels and errors, and nothing else of ours, so that it judges anybody's node."""
    modules = {name: module for name, module in package().items() if name.startswith("upstream/kubelet/")}
    assert modules
    ours = {name for module in modules.values() for name in module.imports if name.startswith("trainyard.")}
    assert {".".join(name.split(".")[1:3]) for name in ours} == ALLOWED

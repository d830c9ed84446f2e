"""The annotation by which pods name their networks, as several packages read it."""

from __future__ import annotations

import pytest

from trainyard.base.labels import networks

NETWORKS = {
    "one": ("rail-0", [("nlp", "rail-0")]),
    "several, some with a namespace or an interface": (
        "rail-0, net/rail-1@net2 ,rail-0@net3",
        [("nlp", "rail-0"), ("net", "rail-1"), ("nlp", "rail-0")],
    ),
    "nothing between commas": (",rail-0, ,@net1", [("nlp", "rail-0")]),
    "no text": ("", []),
    "JSON": (
        ' [{"name": "rail-0"}, {"name": "rail-1", "namespace": "net", "interface": "net2"}]',
        [("nlp", "rail-0"), ("net", "rail-1")],
    ),
    "JSON with what is no network": (
        '[{"name": 5}, {"namespace": "net"}, "rail-0", {"name": "rail-1"}]',
        [("nlp", "rail-1")],
    ),
    "JSON that is broken": ('[{"name": "rail-0"}', []),
    "JSON without an end": ("[" * 100_000, []),
}


@pytest.mark.parametrize(("text", "right"), NETWORKS.values(), ids=NETWORKS)
def test_networks_are_read_in_either_form(text: str, right: list[tuple[str, str]]) -> None:
    """The annotation names networks with commas or in JSON; those without a namespace are in the pod's own."""
    assert list(networks(text, "nlp")) == right

"""Rails of a fabric get one subnet each, for the teams that may run on it."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from everything import EVERYTHING, everything
from trainyard.sizing.networks import subnets, teams


@pytest.mark.parametrize("rails", [1, 2, 3, 8])
def test_every_rail_has_a_subnet_of_its_own(rails):
    """Subnets are equal in size, apart from each other and inside the range."""
    found = subnets(everything(fabric={**EVERYTHING["fabric"], "rails": rails}).fabric)
    assert len(found) == rails
    assert len({each.prefixlen for each in found}) == 1
    assert not any(one.overlaps(other) for one in found for other in found if one != other)
    assert all(each.subnet_of(ip_network("10.56.0.0/16")) for each in found)


def test_teams_without_quota_on_the_fabric_get_no_networks():
    """Only who may run on the fabric's pools is attached to it."""
    queues = {**EVERYTHING["queues"], "batch": {"teams": ["tabular"], "nominalQuota": {"cpu": {"nodes": 1}}}}
    assert teams(everything(queues=queues)) == ("ads", "nlp", "vision")
    assert teams(everything(fabric=None)) == ()

"""Rails of a fabric get one subnet each, for the teams that may run on it."""

from __future__ import annotations

from ipaddress import ip_network
from typing import get_args

import pytest

from everything import EVERYTHING, everything
from trainyard.render.sizing.fabrics import fabric_types
from trainyard.render.sizing.fabrics.plan import subnets, teams
from trainyard.render.sizing.fabrics.rails import every_rail
from trainyard.specs.models.fabric import Fabric


@pytest.mark.parametrize("rails", [1, 2, 3, 8])
def test_every_rail_has_a_subnet_of_its_own(rails):
    """Subnets are equal in size, apart from each other and inside the range."""
    found = list(subnets(everything(fabric={**EVERYTHING["fabric"], "rails": rails})).values())
    assert len(found) == rails
    assert len({item.prefixlen for item in found}) == 1
    assert not any(one.overlaps(other) for one in found for other in found if one != other)
    assert all(item.subnet_of(ip_network("10.56.0.0/16")) for item in found)


def test_teams_without_quota_on_the_fabric_get_no_networks():
    """Only who may run on the fabric's pools is attached to it."""
    queues = {**EVERYTHING["queues"], "batch": {"teams": ["tabular"], "nominalQuota": {"cpu": {"nodes": 1}}}}
    assert teams(everything(queues=queues)) == ("ads", "nlp", "vision")
    assert teams(everything(fabric=None)) == ()


def test_every_type_of_fabric_has_its_module():
    """What cluster files may say, and what pods can be given, is one list."""
    assert set(get_args(Fabric.model_fields["type"].annotation)) == set(fabric_types())


def test_a_fabric_has_the_rails_of_its_nodes():
    """Nobody has to count NICs whose shape is known."""
    fabric = {key: value for key, value in EVERYTHING["fabric"].items() if key != "rails"}
    assert every_rail(everything(fabric=fabric)) == tuple(range(8))

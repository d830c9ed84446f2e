"""What operators do for the fabric and for queues is said in their own files, and general code asks for it there."""

from __future__ import annotations

from typing import get_args

import pytest

from everything import OPERATORS, everything, source
from make import make_cluster
from trainyard.base.system.data import own_folder
from trainyard.judge.preflight.cluster.pairing import check
from trainyard.render.operators.gpu_operator import policy
from trainyard.render.operators.helm import defaults
from trainyard.render.operators.install import sites
from trainyard.render.sizing.fabrics.devices import SHARED, advertiser, resource_prefix
from trainyard.render.sizing.fabrics.rails import SECONDARY
from trainyard.specs.models.fabric import Attach
from trainyard.specs.releases import releases
from trainyard.specs.releases.facts import lookup

NUMBERING = ("network-operator", "whereabouts")
ATTACHING = {name: facts for name, facts in releases().items() if facts.attaches}
BY_VALUE = sorted(name for name, facts in releases().items() if facts.prefix_value)
BOTH = {"network-operator": {"version": "26.4.1"}, "sriov-network-operator": {"version": "1.6.0"}}


def test_every_way_of_attaching_is_some_operators():
    """A way that nobody provides could be chosen and never work."""
    assert {way for facts in ATTACHING.values() for way in facts.attaches} == set(get_args(Attach))


def test_who_advertises_devices_says_under_which_prefix():
    """Pods request a device by its prefix; a shared device has one of its own."""
    own_devices = [name for name, facts in ATTACHING.items() if set(facts.attaches) - SHARED]
    assert own_devices
    assert all(ATTACHING[name].resource_prefix for name in own_devices)


@pytest.mark.parametrize("name", BY_VALUE)
def test_a_prefix_is_the_charts_own_default(name):
    """The value exists in the chart at every release, and is what pods ask for where nobody sets it."""
    for version in releases()[name].releases:
        (site,) = sites(make_cluster(operators={name: {"version": version}}))
        shipped = defaults(site, own_folder("schemas"))
        assert shipped is not None
        assert site.facts.prefix_value is not None
        assert lookup(shipped.values, site.facts.prefix_value) == site.facts.resource_prefix


@pytest.mark.parametrize(
    ("attach", "prefix"), [("hostdev", "nvidia.com"), ("sriov", "openshift.io"), ("macvlan", "rdma")]
)
def test_the_prefix_is_that_of_who_attaches(attach, prefix):
    """Where two operators could, pods ask the one that does; what is installed by itself is not brought along."""
    fabric = {"type": "roce", "attach": attach, "addresses": "10.9.0.0/16"}
    assert resource_prefix(make_cluster(fabric=fabric, operators=BOTH)) == prefix


def test_what_others_install_is_not_named_by_us():
    """The resources of an operator that is not ours are facts of the cluster; its prefix would be a guess."""
    operators = {"sriov-network-operator": {"version": "1.6.0", "managed": False}}
    cluster = make_cluster(fabric={"type": "roce", "attach": "sriov", "addresses": "10.9.0.0/16"}, operators=operators)
    assert (advertiser(cluster), resource_prefix(cluster)) == (None, None)


@pytest.mark.parametrize("name", ["multus", "whereabouts"])
def test_second_interfaces_need_who_makes_and_numbers_them(name):
    """The ways that put a second interface into the pod are the ways that need these operators."""
    (use,) = releases()[name].needed_for
    assert set(use.attach) == SECONDARY


@pytest.mark.parametrize("type_", ["roce", "infiniband", "none"])
def test_a_fabric_without_rdma_needs_nobody(type_):
    """Only an RDMA fabric gives pods second interfaces."""
    fabric = {"type": type_, "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/16", "pools": ["h100"]}
    some = {name: choice for name, choice in OPERATORS.items() if name not in {"multus", *NUMBERING}}
    changes = {"fabric": fabric, "operators": some}
    found = [item.message for item in check(everything(**changes), source(**changes)) if item.rule == "pairing/fabric"]
    assert len(found) == (0 if type_ == "none" else 2)


DRIVERS = {
    None: {"enabled": False},
    "inbox": {"enabled": False},
    "doca": {"enabled": True, "useHostMofed": True},
    "operator": {"enabled": True},
}


@pytest.mark.parametrize(("driver", "expected"), DRIVERS.items())
def test_peer_memory_is_loaded_where_the_vendors_driver_of_nics_is(driver, expected):
    """The older module wants that driver, of the host or in a container; the kernel's own has DMA-BUF."""
    cluster = everything(system={"nicDriver": driver} if driver else {})
    (site,) = (one_site for one_site in sites(cluster) if one_site.name == "gpu-operator")
    assert policy(site)["driver"]["rdma"] == expected


def test_one_of_two_numbers_the_interfaces():
    """Whereabouts is not needed beside a network operator of ours, whose nv-ipam does the same."""
    rest = {name: choice for name, choice in OPERATORS.items() if name not in NUMBERING}
    choices = {name: [name] for name in NUMBERING} | {"none": []}
    needed = {}
    for title, names in choices.items():
        changes = {"operators": {**rest, **{name: OPERATORS[name] for name in names}}}
        needed[title] = [item.rule for item in check(everything(**changes), source(**changes))]
    assert needed == {"network-operator": [], "whereabouts": [], "none": ["pairing/fabric"]}
    foreign = {"operators": {**rest, "network-operator": {"version": "26.4.1", "managed": False}}}
    assert [item.rule for item in check(everything(**foreign), source(**foreign))] == ["pairing/fabric"]


def test_a_driver_by_the_operator_needs_the_operator():
    """Nobody else would install it."""
    some = {name: choice for name, choice in OPERATORS.items() if name != "network-operator"}
    changes = {"system": {"nicDriver": "operator"}, "operators": some}
    assert [item.message for item in check(everything(**changes), source(**changes))] == [
        "nicDriver 'operator' needs network-operator; add it to operators"
    ]

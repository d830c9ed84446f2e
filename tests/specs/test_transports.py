"""Names of NCCL's transports as data: each fabric's pods get one that fails where its plugin is missing."""

from __future__ import annotations

from trainyard.render.sizing.fabrics import fabric_types
from trainyard.specs.transports import built_in, net_name, transports

NAMES = {
    "roce": "IB",
    "infiniband": "IB",
    "efa": "AWS Libfabric",
    "gpudirect-tcpxo": "FasTrak",
    "gpudirect-rdma": "gIB",
    "gpudirect-tcpx": None,
    "none": None,
}


def test_every_type_of_fabric_has_its_name():
    """A type that is added has a name, or a reason here that none is safe."""
    assert {name: net_name(name) for name in fabric_types()} == NAMES


def test_a_transport_has_a_name_for_pods_or_a_reason():
    """Each is given to the pods of a fabric, or says why it is not; and each fact has its source."""
    for row in transports().values():
        assert bool(row.pods) is not bool(row.unset), row.title
        assert row.sources.keys() >= {"names"}
        assert row.sources.keys() <= set(type(row).model_fields)


def test_no_fabric_has_two_names():
    """NCCL takes one transport for all ranks."""
    given = [fabric for row in transports().values() for fabric in row.pods]
    assert len(given) == len(set(given))
    assert set(given) <= set(fabric_types())


def test_parts_of_nccl_are_known():
    """Their names keep every plugin out."""
    assert built_in() == {"ib", "socket"}

"""A kubelet's configuration is read, completed and refused as by the kubelet itself."""

from __future__ import annotations

import pytest

from trainyard.upstream.kubelet import Configuration, Invalid, check
from trainyard.upstream.kubelet.configuration.cpulist import parse
from trainyard.upstream.kubelet.configuration.gates import Gates, gates_of
from trainyard.upstream.kubelet.releases import MEASURED
from trainyard.upstream.kubelet.sets import members


def test_a_configuration_that_says_nothing_has_the_defaults():
    """An empty configuration is valid, and evicts at the kubelet's own thresholds."""
    found = check({})
    assert isinstance(found, Configuration)
    assert found.fields["maxPods"] == 110
    assert found.fields["topologyManagerScope"] == "container"
    assert found.fields["evictionHard"]["memory.available"] == "100Mi"
    assert found.warning is None


def test_thresholds_that_are_written_replace_all_defaults():
    """Unless a configuration merges them, the thresholds that it does not write are gone."""
    written = {"evictionHard": {"nodefs.available": "5%"}}
    for merged, there in ((False, False), (True, True)):
        found = check({**written, "mergeDefaultEvictionSettings": merged})
        assert isinstance(found, Configuration)
        assert ("memory.available" in found.fields["evictionHard"]) == there


def test_fields_that_nobody_knows_are_ignored_and_named():
    """A misspelt field, also deep inside, is a line in the log and nothing else."""
    found = check({"topologyManagerPolcy": "restricted", "reservedMemory": [{"numaNode": 0, "limit": {}}]})
    assert isinstance(found, Configuration)
    assert found.ignored == ("reservedMemory[0].limit", "topologyManagerPolcy")
    assert found.fields["topologyManagerPolicy"] == "none"


def test_everything_that_is_wrong_is_said_at_once():
    """Problems of validation come together; one of decoding comes alone."""
    both = check({"maxPods": -1, "topologyManagerPolicy": "strict"})
    assert isinstance(both, Invalid)
    assert both.stage == "validate"
    assert both.message.count("invalid configuration: ") == 2
    first = check({"maxPods": "x", "reservedSystemCPUs": 0})
    said = "json: cannot unmarshal string into Go struct field KubeletConfiguration.maxPods of type int32"
    assert first == Invalid("decode", f"failed to decode: {said}")


def test_gates_follow_their_stage_and_what_they_need():
    """AllAlpha turns on what is alpha and not named; a gate without what it needs is a problem."""
    gates = Gates({"AllAlpha": True, "MemoryQoS": False})
    assert gates.on("CPUManagerPolicyAlphaOptions")
    assert not gates.on("MemoryQoS")
    assert gates.on("PodLevelResources")
    assert Gates({"GracefulNodeShutdown": False}).problems
    for minor in MEASURED:
        known = gates_of(minor)
        assert {needed for gate in known.values() for needed in gate.needs} <= set(known)


LISTS = {"": [], "3": [3], "0-2,8": [0, 1, 2, 8], "4-4": [4], "2,1": [1, 2]}


@pytest.mark.parametrize(("text", "cpus"), LISTS.items(), ids=LISTS)
def test_lists_of_cpus_are_read(text, cpus):
    """Ranges and single CPUs, in any order."""
    assert list(members(parse(text))) == cpus


@pytest.mark.parametrize("text", ["a", "1-", "-1", "3-1", "1,,2", "0..3", " 1", "99999999999999999999"])
def test_lists_that_the_kubelet_cannot_read_are_refused(text):
    """What Go's own parser refuses is no list."""
    with pytest.raises(ValueError, match=r"strconv|invalid range"):
        parse(text)

"""A plugin of NCCL that the environment asks for is the one that NCCL_NET names."""

from __future__ import annotations

from typing import Any

import pytest

from everything import EVERYTHING, everything, source
from make import make_resolved
from trainyard.judge.preflight.cluster.transports import check
from trainyard.judge.preflight.job.transports import check as check_job

ANP = {"NCCL_NET_PLUGIN": "librccl-anp.so"}
SHARP = {"NCCL_COLLNET_ENABLE": "1"}

WRONG: dict[str, tuple[dict[str, str], str, str]] = {
    "AMD's plugin beside the transport of NCCL": (
        ANP,
        "NCCL_NET_PLUGIN",
        "NCCL_NET is 'IB', so NCCL never uses plugin 'librccl-anp.so'; set NCCL_NET to 'RCCL-ANP'",
    ),
    "a plugin of a site": (
        {"NCCL_NET_PLUGIN": "libnccl-net-own.so"},
        "NCCL_NET_PLUGIN",
        "NCCL_NET is 'IB', so NCCL never uses plugin 'libnccl-net-own.so'; set NCCL_NET to its name",
    ),
    "collectives of the switches": (
        SHARP,
        "NCCL_COLLNET_ENABLE",
        "NCCL_NET is 'IB', so NCCL uses no SHARP of a plugin; set NCCL_NET to its name, such as 'IBext_v11'",
    ),
}
RIGHT: dict[str, dict[str, str]] = {
    "nothing is asked for": {},
    "the plugin is named": {**ANP, "NCCL_NET": "RCCL-ANP"},
    "SHARP with its plugin": {**SHARP, "NCCL_NET": "IBext_v10"},
    "plugins are switched off": {"NCCL_NET_PLUGIN": "none"},
    "collectives are switched off": {"NCCL_COLLNET_ENABLE": "0"},
}


def fabric(env: dict[str, str]) -> dict[str, Any]:
    """Return the fabric with an environment."""
    return {**EVERYTHING["fabric"], "env": env}


@pytest.mark.parametrize(("env", "variable", "message"), WRONG.values(), ids=WRONG)
def test_a_plugin_that_is_never_used_is_found(env, variable, message):
    """In the environment of the fabric, at its line."""
    (found,) = check(everything(fabric=fabric(env)), source(fabric=fabric(env)))
    assert (str(found.rule), found.path, found.message) == ("nccl-net-plugin", f"fabric.env.{variable}", message)
    assert len(message.split()) <= 20
    assert found.location.line is not None


@pytest.mark.parametrize("env", RIGHT.values(), ids=RIGHT)
def test_a_plugin_that_is_used_is_no_finding(env):
    """Where NCCL_NET names it, or nothing is asked for."""
    assert list(check(everything(fabric=fabric(env)), source(fabric=fabric(env)))) == []


JOBS = {
    "a plugin of the job": ({**ANP}, "rdma", 1),
    "the job names it": ({**ANP, "NCCL_NET": "RCCL-ANP"}, "rdma", 0),
    "the job is not on the fabric": ({**ANP}, "tcp", 0),
}


@pytest.mark.parametrize(("env", "on", "wrong"), JOBS.values(), ids=JOBS)
def test_jobs_are_held_to_the_transport_of_their_fabric(env, on, wrong):
    """The name that follows from the fabric counts, unless the job has its own."""
    run = make_resolved(cluster=everything(), env=env, fabric=on, gpus_per_node=8, pool="h100")
    found = list(check_job(run))
    assert [str(item.path) for item in found] == ["env.NCCL_NET_PLUGIN"] * wrong


TCPX: dict[str, tuple[dict[str, Any], bool]] = {
    "TCPX without a name": ({"type": "gpudirect-tcpx"}, True),
    "TCPX with other variables": ({"type": "gpudirect-tcpx", "env": {"NCCL_DEBUG": "INFO"}}, True),
    "TCPX with its name": ({"type": "gpudirect-tcpx", "env": {"NCCL_NET": "GPUDirectTCPX_v7"}}, False),
    "TCPXO, whose name is derived": ({"type": "gpudirect-tcpxo"}, False),
    "gIB, whose name is derived": ({"type": "gpudirect-rdma"}, False),
    "no fabric": ({"type": "none"}, False),
}


@pytest.mark.parametrize(("said", "wrong"), TCPX.values(), ids=TCPX)
def test_a_plugin_that_may_be_missing_in_silence_is_found(said, wrong):
    """NCCL takes TCP by itself where the plugin does not load, unless a variable names the plugin."""
    found = [str(item.rule) for item in check(everything(fabric=said), source(fabric=said))]
    assert found == (["nccl-net-unnamed"] if wrong else [])

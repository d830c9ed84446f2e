"""Under the real torchrun a gang starts again among what is left of it, and goes on."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ranks import PROGRAMS, SAID, free_port, needs_torch

pytestmark = [pytest.mark.torch, pytest.mark.slow, needs_torch]

STEPS = 12

OPTIONS = ("--depth", 10, "--width", 8, "--size", 24, "--images", 50, "--batch", 10, "--piece", 3, "--rate", 0.03)
COMMON = (*OPTIONS, "--steps", STEPS, "--log-every", 1, "--save-every", 3, "--lease-seconds", 0.6, "--pace", 0.2)


@pytest.fixture
def torchrun(tmp_path):
    """Start agents of torchrun, each a node, told what a job with checkpoints tells."""
    begun = []

    def start(*options):
        told = {
            "RUN_NAME": "count-0aaaaaaa",
            "CHECKPOINT_DIR": str(tmp_path / "agents"),
            "CHECKPOINT_EVERY_MINUTES": "1000",
            "CHECKPOINT_KEEP": "2",
            "CHECKPOINT_GRACE_SECONDS": "30",
            "TORCH_ELASTIC_SHUTDOWN_TIMEOUT": "30",
            "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
            "CUDA_VISIBLE_DEVICES": "",
            "OMP_NUM_THREADS": "1",
        }
        command = [sys.executable, "-m", "torch.distributed.run", *options, str(PROGRAMS / "ddp.py")]
        begun.append(
            subprocess.Popen(
                [*command, *map(str, COMMON)],
                env=os.environ | told,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        )
        return begun[-1]

    yield start
    for agent in begun:
        end(agent)
        agent.communicate()


def until(agent, wanted):
    """Read what an agent's ranks say until this comes, and return it all."""
    text = ""
    for line in agent.stdout:
        text += line
        if wanted in line:
            return text
    pytest.fail(text)


def workers(agent):
    """The processes of an agent's ranks, by rank."""
    found = {}
    with contextlib.suppress(OSError):
        for pid in Path(f"/proc/{agent.pid}/task/{agent.pid}/children").read_text().split():
            said = Path(f"/proc/{pid}/environ").read_text().split("\0")
            if rank := next((item for item in said if item.startswith("RANK=")), None):
                found[int(rank.removeprefix("RANK="))] = int(pid)
    return found


def end(agent):
    """End an agent and its ranks, as a node that is lost ends them."""
    for pid in workers(agent).values():
        os.kill(pid, signal.SIGKILL)
    agent.kill()


def losses(text):
    """The loss of each step; the last word on a step counts."""
    return {int(step): loss for step, loss in SAID.findall(text)}


def test_a_killed_rank_is_started_again_with_the_others(torchrun, train):
    """A restart within the agent repeats every bit of what an undisturbed gang learns."""
    agent = torchrun("--standalone", "--nproc-per-node=2", "--max-restarts=1")
    text = until(agent, "saved step=3")
    os.kill(workers(agent)[1], signal.SIGKILL)
    text += agent.communicate(timeout=240)[0]
    assert agent.returncode == 0, text
    (resumed,) = re.findall(r"^resumed step=(\d+)", text, re.MULTILINE)
    assert int(resumed) >= 3
    gang = train("ddp.py", (*OPTIONS, "--steps", STEPS, "--log-every", 1, "--lease-seconds", 0.6))
    assert gang.ended() == [0, 0]
    assert losses(text) == gang.losses()


def test_an_agent_that_is_told_to_end_lets_its_ranks_save(torchrun):
    """SIGTERM to the pod's first process reaches the program, which saves; the agent does not say that it is done."""
    agent = torchrun("--standalone", "--nproc-per-node=2")
    until(agent, "step=2 ")
    agent.terminate()
    text = agent.communicate(timeout=120)[0]
    assert agent.returncode not in (0, None)
    assert re.search(r"^saved step=\d", text, re.MULTILINE), text


def test_an_elastic_gang_goes_on_without_a_lost_node(torchrun, train):
    """Two nodes, of which the second is lost: the first goes on alone, with the same batch, to nearly the same loss."""
    port = free_port()
    common = ("--nnodes=1:2", "--rdzv-backend=c10d", f"--rdzv-endpoint=127.0.0.1:{port}", "--rdzv-id=count")
    node = [
        torchrun(*common, f"--rdzv-conf=is_host={host},last_call_timeout=20", "--nproc-per-node=1", "--max-restarts=3")
        for host in (1, 0)
    ]
    leads, text = next((agent, until(agent, "step=4 ")) for agent in node if ranks_zero(agent))
    lost = node[1]
    end(lost)
    text += (leads if leads is not lost else node[0]).communicate(timeout=240)[0]
    assert node[0].returncode == 0, text
    assert "resumed step=" in text
    gang = train("ddp.py", (*OPTIONS, "--steps", STEPS, "--log-every", 1, "--lease-seconds", 0.6))
    assert gang.ended() == [0, 0]
    found = {step: float(loss) for step, loss in losses(text).items()}
    assert found == pytest.approx({step: float(loss) for step, loss in gang.losses().items()}, rel=2e-3)


def ranks_zero(agent):
    """Whether rank 0 is this agent's; waits until the agent has ranks."""
    while agent.poll() is None:
        found = workers(agent)
        if found:
            return 0 in found
        with contextlib.suppress(subprocess.TimeoutExpired):
            agent.wait(0.2)
    pytest.fail(agent.communicate()[0])

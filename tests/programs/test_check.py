"""The check of a network lets a run start, or says which node is slow or missing, and never waits without an end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ranks import forks, free_port, needs_torch
from trainyard.render.parts import check_program

forks.set_forkserver_preload(["torch", "torch.distributed"])

PROGRAM = Path(check_program.__file__)
NAMES = ["n0", "n1", "n2", "n3"]
OWN = ["--nodes=2", "--node=0", "--leader=localhost", "--port=1", "--floor=1", "--name=n0"]

SLOW = {
    "one node beside others": (
        {(0, 1): 400, (1, 2): 50, (2, 3): 55, (0, 3): 390},
        ["slow with both neighbours: n2 55.0 GB/s"],
    ),
    "one pair of nodes": (
        {(0, 1): 400, (1, 2): 50, (2, 3): 400, (0, 3): 390},
        ["slow together: n1 and n2 50.0 GB/s"],
    ),
    "the GPUs of one node": (
        {(0,): 450, (1,): 450, (2,): 20, (3,): 440, (0, 1): 400, (1, 2): 390, (2, 3): 400, (0, 3): 390},
        ["slow by itself: n2 20.0 GB/s"],
    ),
    "all alike": (
        {(0, 1): 90, (1, 2): 88, (2, 3): 91, (0, 3): 90},
        ["no node stands out: pairs of nodes reach 88.0 to 91.0 GB/s"],
    ),
    "two nodes": ({(0,): 450, (1,): 450, (0, 1): 20}, ["no node stands out: pairs of nodes reach 20.0 to 20.0 GB/s"]),
    "one node of one GPU": ({}, ["no node stands out"]),
}


@pytest.mark.parametrize(("rates", "lines"), SLOW.values(), ids=SLOW)
def test_who_is_slow(rates, lines):
    """A node is named when it is slow with both neighbours, or alone; a pair when each is fast with somebody else."""
    assert check_program.verdict_lines(rates, NAMES) == lines


@pytest.mark.parametrize("nodes", [1, 2, 3, 4, 5, 8])
def test_nodes_of_a_round_do_not_share(nodes):
    """In each round every node sums in one group at most, and each of three or more has two neighbours."""
    rounds: dict[str, list[tuple[int, ...]]] = {}
    for node in range(nodes):
        for name, there in check_program.rounds(nodes, node):
            assert node in there
            rounds.setdefault(name, []).append(tuple(there))
    for groups in rounds.values():
        members = [node for group in set(groups) for node in group]
        assert len(members) == len(set(members))
    pairs = {group for groups in rounds.values() for group in groups if len(group) == 2}
    assert len(pairs) == (nodes if nodes > 2 else nodes - 1)


def parent(program: str, *command: str, limit: str = "1") -> subprocess.Popen[str]:
    """Start the parent of a node of two GPUs whose processes run a program instead."""
    script = f"import runpy, sys; sys.executable = {program!r}; runpy.run_path({str(PROGRAM)!r}, run_name='__main__')"
    words = [sys.executable, "-c", script, *OWN, "--gpus=2", "--wait=0", f"--limit={limit}", "--", *command]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


ENDS = {
    "all is well": ("/bin/true", ["echo", "trains"], 0, "trains\n"),
    "a process fails": ("/bin/false", ["echo", "trains"], 1, ""),
    "nothing to start": ("/bin/true", ["no-such-program"], 127, "check: no-such-program does not start: "),
    "no file to execute": ("/bin/true", [str(PROGRAM)], 126, f"check: {PROGRAM} does not start: "),
}


@pytest.mark.parametrize(("program", "command", "code", "said"), ENDS.values(), ids=ENDS)
def test_the_command_starts_only_after_a_good_end(program, command, code, said):
    """The parent is replaced by the command when all processes have ended with 0, and by nothing else."""
    started = parent(program, *command)
    text = started.communicate(timeout=30)[0]
    assert (started.returncode, text[: len(said)]) == (code, said)


def test_a_parent_that_is_told_to_end(tmp_path):
    """SIGTERM ends the check and its processes at once, as a drained pod needs."""
    program = tmp_path / "hangs"
    program.write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/ids\nexec sleep 60\n")
    program.chmod(0o755)
    started = parent(str(program), "echo", "trains", limit="60")
    ids = tmp_path / "ids"
    while not ids.exists() or len(ids.read_text().split()) < 2:
        time.sleep(0.02)
    started.send_signal(signal.SIGTERM)
    assert (started.communicate(timeout=10)[0], started.returncode) == ("", 143)
    for one in map(int, ids.read_text().split()):
        with pytest.raises(ProcessLookupError):
            os.kill(one, 0)


def test_an_image_without_torch(tmp_path):
    """The run ends for good and says why: another try would find the same image."""
    (tmp_path / "torch.py").write_text("raise ImportError('libcublas is missing')\n")
    words = [*OWN, "--gpus=1", "--", "echo", "trains"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run([sys.executable, PROGRAM, *words], env=env, capture_output=True, text=True, timeout=30)
    said = "check: n0: the image has no torch that works (libcublas is missing); remove check\n"
    assert (ended.returncode, ended.stdout) == (2, said)


def node(words: list[str], number: int, pause: float, out: str) -> None:
    """Be the process of a node's only GPU; each sum takes so many seconds longer."""
    os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    sums = dist.all_reduce

    def late(*args: Any, **options: Any) -> Any:
        time.sleep(pause)
        return sums(*args, **options)

    if pause:
        dist.all_reduce = late
    sys.exit(check_program.main([*words, f"--node={number}", f"--name={NAMES[number]}", "--local=0"]))


def check(folder: Path, *options: str, nodes: int = 4, there: int = 4, pauses: dict[int, float] | None = None):
    """Return the exit codes of nodes whose processes sum by Gloo, and what they said."""
    out = folder / "said"
    own = ["--gpus=1", "--leader=127.0.0.1", f"--port={free_port()}", "--bytes=65536", "--backend=gloo"]
    words = [f"--nodes={nodes}", *own, "--wait=20", "--limit=20", *options]
    pause = pauses or {}
    begun = [forks.Process(target=node, args=(words, at, pause.get(at, 0.0), str(out))) for at in range(there)]
    for process in begun:
        process.start()
    for process in begun:
        process.join(60)
    return [process.exitcode for process in begun], out.read_text()


@needs_torch
@pytest.mark.torch
def test_a_network_that_is_fast_enough(tmp_path):
    """All nodes start, and the first says how fast it was."""
    codes, said = check(tmp_path, "--floor=0.000001", nodes=2, there=2)
    assert codes == [0, 0]
    assert "check: 2 GPUs on 2 nodes sum 6.55e-05 GB: bus bandwidth" in said
    assert "the run starts" in said


@needs_torch
@pytest.mark.torch
def test_a_slow_node_is_named(tmp_path):
    """No node starts, and the log has the name of the one that makes all others wait."""
    codes, said = check(tmp_path, "--floor=900", pauses={2: 0.02})
    assert codes == [2, 2, 2, 2]
    assert "floor 900; the run does not start" in said
    assert "check: slow with both neighbours: n2 " in said


@needs_torch
@pytest.mark.torch
def test_a_missing_node_is_named(tmp_path):
    """Nodes wait for so long and no longer; then the attempt fails, and may be made again."""
    codes, said = check(tmp_path, "--floor=0.000001", "--wait=12", nodes=3, there=2)
    assert codes == [1, 1]
    assert "check: n0: not here after 12 seconds: node 2" in said

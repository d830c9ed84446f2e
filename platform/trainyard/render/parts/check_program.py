"""Sum over all GPUs of a run before it trains, and refuse to start it where a sum is wrong or too slow.

Pods run this file before their launcher, with Python 3.9 or later and the torch of the image (docs/checks.md):

    python3 check.py --nodes=64 --node=3 --gpus=8 --leader=run-worker-0 --port=29400 --floor=200 ... -- torchrun …

A parent starts one process a GPU and is replaced by the command when all of them have ended well. Rank 0 keeps the
store by which all ranks meet, calls the roll, and leaves when all have read the result. Where the sum of all is too
slow twice, every node sums alone, then beside its neighbours, so that the slow ones can be named.
Every wait has a bound. Exit codes: 2 for what another try repeats, 1 for the rest, 143 when told to end.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

SLOW, FAILED, TOLD = 2, 1, 143

WARM, TIMES = 5, 20
"""Sums before the clock runs, and sums that are measured."""

APART = 0.75
"""Part of the usual rate, that of the upper quarter, below which a node or a pair of nodes is called slow (assumed)."""

SLACK = 60
"""Seconds for processes to start and to end, beyond what they may wait and measure."""

SHOWN = 5
"""Names in one line."""

PERIOD = 97
"""Ranks add 1 to this number, over and over: sums of 300,000 ranks are below 2^24, to which float32 is exact."""

LOOK = 0.2
"""Seconds between two looks at what others have written."""

Rates = dict[tuple[int, ...], float]
"""GB/s by the nodes that sum together."""

FOREIGN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""Variables of the launcher or the operator, which are for training."""


class MeetingError(Exception):
    """The check cannot go on; the text says why."""


def say(text: str) -> None:
    """Print a line at once."""
    print(f"check: {text}", flush=True)  # noqa: T201 - its log is how people see it


def node_name(told: argparse.Namespace) -> str:
    """Return the name of this node for people."""
    return told.name or f"node {told.node}"


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="check.py")
    for name in ("nodes", "node", "gpus", "port"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--leader", required=True, help="address of the first node")
    parser.add_argument("--floor", type=float, required=True, help="least bus bandwidth in GB/s")
    parser.add_argument("--bytes", type=int, default=1 << 30, help="of one sum")
    parser.add_argument("--wait", type=float, default=1800, help="seconds to wait for other nodes")
    parser.add_argument("--limit", type=float, default=300, help="seconds of the check itself")
    parser.add_argument("--name", default="", help="of this node, for people")
    parser.add_argument("--backend", default="nccl", choices=("nccl", "gloo"))
    parser.add_argument("--local", type=int, help="be the process of this GPU")
    return parser.parse_args(words)


# A process of one GPU.


def at_leader(told: argparse.Namespace, rank: int) -> Any:
    """Return the store by which ranks meet; rank 0 has it, and others look for its port before torch complains."""
    dist = import_module("torch.distributed")
    until, why = time.monotonic() + told.wait, ""
    while True:
        left = until - time.monotonic()
        if left <= 0:
            raise MeetingError(f"the first node, {told.leader}, did not answer within {told.wait:g} seconds: {why}")
        try:
            if rank:
                socket.create_connection((told.leader, told.port), timeout=5).close()
            wait = dt.timedelta(seconds=max(1.0, min(left, 60.0)))
            store = dist.TCPStore(told.leader, told.port, None, rank == 0, wait, wait_for_workers=False)
        except (RuntimeError, OSError) as error:
            why = first_line(error)
            time.sleep(LOOK)
        else:
            store.set_timeout(dt.timedelta(seconds=told.wait + told.limit))
            return store


def call_roll(store: Any, told: argparse.Namespace, rank: int) -> None:
    """Wait until all ranks are there; rank 0 says who is missing."""
    store.set(f"here/{rank}", node_name(told))
    if rank == 0:
        until = time.monotonic() + told.wait
        missing = list(range(told.nodes * told.gpus))
        while missing and time.monotonic() < until:
            missing = [one for one in missing if not store.check([f"here/{one}"])]
            time.sleep(LOOK if missing else 0)
        nodes = sorted({one // told.gpus for one in missing})
        store.set("begin", f"not here after {told.wait:g} seconds: {list_of('node', nodes)}" if nodes else "")
    found = store.get("begin").decode()
    if found:
        raise MeetingError(found)


def seconds(dist: Any, data: Any, wait: Any, group: Any = None) -> float:
    """Return how long the slowest rank of a group takes for one sum."""
    for _ in range(WARM):
        dist.all_reduce(data, group=group)
    wait()
    dist.barrier(group=group)
    began = time.monotonic()
    for _ in range(TIMES):
        dist.all_reduce(data, group=group)
    wait()
    took = data.new_full((1,), (time.monotonic() - began) / TIMES)
    dist.all_reduce(took, op=dist.ReduceOp.MAX, group=group)
    return max(float(took[0]), 1e-9)


def on_bus(size: int, took: float, ranks: int) -> float:
    """Return the bus bandwidth in GB/s, as nccl-tests count it."""
    return size / took * 2 * (ranks - 1) / ranks / 1e9


def wrong_sums(dist: Any, data: Any, rank: int, world: int) -> bool:
    """Say whether this rank has another sum than it should anywhere; the numbers are small enough to be exact."""
    data.fill_(rank % PERIOD + 1)
    dist.all_reduce(data)
    right = float(sum(one % PERIOD + 1 for one in range(world)))
    wrong = not (float(data.min()) == right == float(data.max()))
    data.zero_()
    return wrong


def rounds(nodes: int, node: int) -> list[tuple[str, list[int]]]:
    """Return the nodes that sum with one in each round: itself alone, then the next on either side of a ring.

    Pairs of a round are apart: two rounds are enough for an even ring, and an odd one has a third for its ends.
    """
    first, second = node - node % 2, node - (node + 1) % 2
    found = [("alone", [node]), ("first", [first, first + 1]), ("second", [second, second + 1])]
    if nodes > 2 and node in (0, nodes - 1):
        found.append(("around", [0, nodes - 1]))
    return [(name, there) for name, there in found if there[0] >= 0 and there[-1] < nodes]


def name_slow(dist: Any, store: Any, told: argparse.Namespace, rank: int, data: Any, wait: Any) -> None:
    """Let every node sum alone and with its neighbours, and let rank 0 say who is slow.

    Every rank makes a group in every round, since torch names groups by their number (2.15 _hash_ranks_to_str).
    """
    size, own = data.numel() * data.element_size(), dict(rounds(told.nodes, told.node))
    for name in ("alone", "first", "second", "around"):
        nodes = own.get(name, own["alone"])
        ranks = [node * told.gpus + number for node in nodes for number in range(told.gpus)]
        limit = dt.timedelta(seconds=told.limit)
        group = dist.new_group(ranks, timeout=limit, use_local_synchronization=True)
        if name in own and len(ranks) > 1:
            rate = on_bus(size, seconds(dist, data, wait, group), len(ranks))
            if rank == ranks[0]:
                store.set(f"rate/{name}/{nodes[0]}", str(rate))
        dist.barrier()
    if rank == 0:
        names = [store.get(f"here/{node * told.gpus}").decode() for node in range(told.nodes)]
        for line in verdict_lines(rates_of(store, told.nodes), names):
            say(line)


def rates_of(store: Any, nodes: int) -> Rates:
    """Return the rates that nodes have reached, by the nodes that summed."""
    found: Rates = {}
    for node in range(nodes):
        for name, there in rounds(nodes, node):
            key = f"rate/{name}/{there[0]}"
            if there[0] == node and store.check([key]):
                found[tuple(there)] = float(store.get(key))
    return found


def verdict_lines(rates: Rates, names: Sequence[str]) -> list[str]:
    """Return lines on nodes that are slow by themselves, nodes that are slow with both neighbours, and slow pairs."""
    alone: Rates = {nodes: rate for nodes, rate in rates.items() if len(nodes) == 1}
    pairs: Rates = {nodes: rate for nodes, rate in rates.items() if len(nodes) == 2}
    slow = below_usual(pairs)
    beside = {node: [nodes for nodes in pairs if node in nodes] for node in range(len(names))}
    blamed: Rates = {
        (node,): max(slow[nodes] for nodes in own)
        for node, own in beside.items()
        if len(own) > 1 and all(nodes in slow for nodes in own)
    }
    rest: Rates = {nodes: rate for nodes, rate in slow.items() if not any((node,) in blamed for node in nodes)}
    found = (("slow by itself", below_usual(alone)), ("slow with both neighbours", blamed), ("slow together", rest))
    said = [f"{words}: {text_of(nodes, names)}" for words, nodes in found if nodes]
    if not said and pairs:
        said.append(
            f"no node stands out: pairs of nodes reach {min(pairs.values()):.1f} to {max(pairs.values()):.1f} GB/s"
        )
    return said or ["no node stands out"]


def below_usual(rates: Rates) -> Rates:
    """Return the rates that are far below that of the upper quarter."""
    usual = sorted(rates.values())[len(rates) * 3 // 4] if rates else 0
    return {nodes: rate for nodes, rate in rates.items() if rate < APART * usual}


def text_of(rates: Rates, names: Sequence[str]) -> str:
    """Return the names of nodes with their rates, the slowest first."""
    worst = sorted(rates, key=lambda nodes: rates[nodes])
    more = f", and {len(worst) - SHOWN} more" if len(worst) > SHOWN else ""
    said = (f"{' and '.join(names[node] for node in nodes)} {rates[nodes]:.1f} GB/s" for nodes in worst[:SHOWN])
    return ", ".join(said) + more


def list_of(what: str, numbers: Sequence[int]) -> str:
    """Return numbers behind the word for one of them."""
    more = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
    return f"{what}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers[:SHOWN]))}{more}"


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def measure(told: argparse.Namespace, store: Any, rank: int) -> int:
    """Return the exit code: whether sums are right, and fast enough in one of two tries."""
    torch, dist = import_module("torch"), import_module("torch.distributed")
    world, limit = told.nodes * told.gpus, dt.timedelta(seconds=told.limit)
    on_gpu = told.backend == "nccl"
    device = torch.device("cuda", told.local) if on_gpu else torch.device("cpu")
    wait = torch.cuda.synchronize if on_gpu else (lambda: None)
    if on_gpu:
        torch.cuda.set_device(device)
    group = dist.PrefixStore("ranks", store)
    dist.init_process_group(told.backend, store=group, rank=rank, world_size=world, timeout=limit)
    data = torch.zeros(max(1, told.bytes // 4), device=device)
    wrong = wrong_sums(dist, data, rank, world)
    if wrong:
        say(f"{node_name(told)}: GPU {told.local} has a wrong sum")
    many = data.new_full((1,), float(wrong))
    dist.all_reduce(many)
    if float(many[0]):
        return SLOW
    rates = []
    for _ in range(2):
        rates.append(on_bus(data.numel() * 4, seconds(dist, data, wait), world))
        if rates[-1] >= told.floor:
            break
    good = max(rates) >= told.floor
    if rank == 0:
        summed = f"{world} GPUs on {told.nodes} nodes sum {data.numel() * 4 / 1e9:.3g} GB"
        verdict = "the run starts" if good else "the run does not start"
        say(f"{summed}: bus bandwidth {max(rates):.1f} GB/s, floor {told.floor:g}; {verdict}")
    if not good:
        try:
            name_slow(dist, store, told, rank, data, wait)
        except (RuntimeError, TypeError, ValueError) as error:
            say(f"{node_name(told)}: cannot name the slow nodes: {first_line(error)}")
            return SLOW
    dist.barrier()
    dist.destroy_process_group()
    return 0 if good else SLOW


def part(store: Any, told: argparse.Namespace, rank: int) -> None:
    """Say that this rank is done; rank 0 stays until all are."""
    store.set(f"done/{rank}", "")
    until = time.monotonic() + SLACK / 2
    left = list(range(told.nodes * told.gpus)) if rank == 0 else []
    while left and time.monotonic() < until:
        left = [one for one in left if not store.check([f"done/{one}"])]
        time.sleep(LOOK if left else 0)


def be_rank(told: argparse.Namespace) -> int:
    """Return the exit code of the process of one GPU."""
    where, rank = node_name(told), told.node * told.gpus + told.local
    try:
        torch = import_module("torch")
    except ImportError as error:
        say(f"{where}: the image has no torch that works ({first_line(error)}); remove check")
        return SLOW
    there = torch.cuda.device_count() if told.backend == "nccl" else told.gpus
    if there < told.gpus:
        say(f"{where}: {there} of {told.gpus} GPUs are there")
        return FAILED
    try:
        store = at_leader(told, rank)
        call_roll(store, told, rank)
        code = measure(told, store, rank)
        with suppress(RuntimeError, OSError):
            part(store, told, rank)
    except MeetingError as error:
        if rank == 0 or told.local == 0:
            say(f"{where}: {error}")
        return FAILED
    except (RuntimeError, OSError, ValueError) as error:
        say(f"{where}: GPU {told.local}: {first_line(error)}")
        return FAILED
    return code


# The parent of a node's processes.


def follow(children: Sequence[subprocess.Popen[bytes]], told: argparse.Namespace, ending: Sequence[int]) -> int:
    """Wait for the processes of this node, or for a signal to end, and return the exit code of all together.

    When one has failed the others have little time left: they wait for it, and no longer than for the whole check.
    """
    until, failed = time.monotonic() + told.wait + told.limit + SLACK, False
    while any(child.poll() is None for child in children) and not ending:
        if not failed and any(child.poll() for child in children):
            until, failed = min(until, time.monotonic() + SLACK / 6), True
        if time.monotonic() > until:
            if not failed:
                say(f"{node_name(told)}: the check did not end within {told.wait + told.limit + SLACK:g} seconds")
            break
        time.sleep(LOOK)
    codes = [child.poll() for child in children]
    end(children)
    if ending:
        return TOLD
    for number, code in enumerate(codes):
        if code is not None and code < 0:
            why = f"was ended by signal {-code}, as after {told.limit:g} seconds"
            say(f"{node_name(told)}: the process of GPU {number} {why}")
    if all(code == 0 for code in codes):
        return 0
    return SLOW if SLOW in codes else FAILED


def end(children: Sequence[subprocess.Popen[bytes]]) -> None:
    """Kill what is left: ranks of a check have nothing to save."""
    for child in children:
        if child.poll() is None:
            child.kill()
        child.wait()


def main(words: Sequence[str]) -> int:
    """Check, and be replaced by the command; returns an exit code where there is none to start."""
    at = list(words).index("--") if "--" in words else len(words)
    own, command = list(words[:at]), list(words[at + 1 :])
    told = parse(own)
    if told.local is not None:
        return be_rank(told)
    children, ending = list[subprocess.Popen[bytes]](), list[int]()
    signal.signal(signal.SIGTERM, lambda number, _: ending.append(number))
    env = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    for number in range(told.gpus):
        line = [sys.executable, str(Path(__file__).resolve()), *own, f"--local={number}"]
        children.append(subprocess.Popen(line, env=env))  # noqa: S603 - itself
    code = follow(children, told, ending)
    if code or ending or not command:
        return TOLD if ending else code
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - what the container is for
    except OSError as error:
        say(f"{command[0]} does not start: {error.strerror}")
        return 126 if isinstance(error, PermissionError) else 127


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

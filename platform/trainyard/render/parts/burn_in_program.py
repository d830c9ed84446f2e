"""Let all GPUs of an idle node compute for some minutes, and find those that compute wrongly or slowly.

A Job runs this file at night, with Python 3.9 or later and the torch of the image (docs/health.md):

    python3 burn_in.py --gpus=8 --minutes=10 --name=node-17

One process a GPU fills the free memory with patterns and reads them again, then multiplies the same matrices over and
over: each product must be the first one, bit for bit. The parent compares the rates. Every wait has a bound, since a
GPU that hangs is a fault too. Exit codes: 0 good, 1 a fault, 2 the image cannot run this, 143 when told to end.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

FAULT, UNABLE, TOLD = 1, 2, 143

SLOW = 0.85
"""Part of the median rate of the node's GPUs below which one of them is slow (assumed: equal GPUs differ by 5%)."""

ENOUGH = 3
"""GPUs from which on there is a median to compare with."""

FILL = 0.8
"""Part of the free memory that is filled; the rest is for the product and for the libraries."""

SIZE = {"cuda": 8192, "cpu": 256}
"""Rows of the matrices, by device: on a CPU, in tests, small ones do."""

CHUNK = {"cuda": 1 << 30, "cpu": 1 << 20}
"""Bytes that are filled at a time."""

PATTERNS = (0x55, 0xAA)
"""Bytes with every other bit set, and with the others set."""

SLACK = 600
"""Seconds for torch to load and for memory to be filled and read, beyond the minutes of computing (assumed)."""

LOOK = 0.2
"""Seconds between two looks at the processes."""


def say(text: str) -> None:
    """Print a line at once."""
    print(f"burn-in: {text}", flush=True)  # noqa: T201 - its log is how people see it


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="burn_in.py")
    parser.add_argument("--gpus", type=int, required=True)
    parser.add_argument("--minutes", type=float, required=True, help="that every GPU computes")
    parser.add_argument("--name", required=True, help="of this node, for people")
    parser.add_argument("--device", default="cuda", choices=sorted(SIZE), help="cpu is for tests")
    parser.add_argument("--local", type=int, default=None, help="of a process: its GPU")
    return parser.parse_args(words)


def memory_errors(torch: Any, device: str, kind: str) -> int:
    """Return how many bytes of the memory at hand do not keep a pattern."""
    free = torch.cuda.mem_get_info(device)[0] if kind == "cuda" else 4 * CHUNK[kind]
    count = max(1, int(free * FILL) // CHUNK[kind])
    wrong = 0
    for pattern in PATTERNS:
        chunks = [torch.full((CHUNK[kind],), pattern, dtype=torch.uint8, device=device) for _ in range(count)]
        wrong += sum(int((chunk != pattern).sum().item()) for chunk in chunks)
        del chunks
    if kind == "cuda":
        torch.cuda.empty_cache()
    return wrong


def rate(torch: Any, device: str, kind: str, seconds: float) -> tuple[float, int]:
    """Return the multiplications per second, and how many products differ from the first."""
    torch.manual_seed(17)
    number = torch.bfloat16 if kind == "cuda" else torch.float32
    one, two = (torch.randn(SIZE[kind], SIZE[kind], device=device, dtype=number) for _ in range(2))
    first = one @ two
    wrong = done = 0
    start = now = time.monotonic()
    while now - start < seconds or not done:
        wrong += not torch.equal(one @ two, first)
        done += 1
        now = time.monotonic()
    return done / (now - start), wrong


def be_rank(told: argparse.Namespace) -> int:
    """Test one GPU, and print what was found as a line of JSON."""
    try:
        torch = import_module("torch")
    except ImportError as error:
        print(json.dumps({"unable": f"the image has no torch that works ({error})"}))  # noqa: T201
        return UNABLE
    device = f"cuda:{told.local}" if told.device == "cuda" else "cpu"
    try:
        there = torch.cuda.device_count() if told.device == "cuda" else told.gpus
        if told.local >= there:
            print(json.dumps({"fault": f"is not there: the node has {there} of {told.gpus}"}))  # noqa: T201
            return FAULT
        lost = memory_errors(torch, device, told.device)
        speed, wrong = rate(torch, device, told.device, told.minutes * 60)
    except (RuntimeError, ValueError) as error:
        text = str(error).strip() or type(error).__name__
        print(json.dumps({"fault": f"fails: {text.splitlines()[0]}"}))  # noqa: T201
        return FAULT
    print(json.dumps({"lost": lost, "wrong": wrong, "rate": speed}))  # noqa: T201
    return 0


def verdicts(found: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line for each GPU with a fault: what it does wrong, or how slow it is beside the others."""
    rates = [item["rate"] for item in found if "rate" in item]
    usual = statistics.median(rates) if len(rates) >= ENOUGH else 0
    lines = []
    for number, item in enumerate(found):
        if "fault" in item:
            lines.append(f"GPU {number} {item['fault']}")
        if item.get("lost"):
            lines.append(f"GPU {number} does not keep {item['lost']} bytes of its memory")
        if item.get("wrong"):
            lines.append(f"GPU {number} computes wrongly: {item['wrong']} products differ from the first")
        if item.get("rate", usual) < SLOW * usual:
            lines.append(f"GPU {number} is slow: {item['rate'] / usual:.0%} of the median")
    return lines


def read(child: subprocess.Popen[str], told: argparse.Namespace) -> dict[str, Any]:
    """Return the findings of a process; one that was killed, or that said nothing, has a fault."""
    said = (child.stdout.read() if child.stdout else "").strip().splitlines()
    try:
        found = json.loads(said[-1]) if said else {}
    except (ValueError, RecursionError):
        found = {}
    if not isinstance(found, dict) or not found:
        code = child.returncode
        bound = told.minutes * 60 + SLACK
        why = (
            f"hangs: it was ended after {bound:g} seconds" if code == -signal.SIGKILL else f"ends its process ({code})"
        )
        return {"fault": why}
    return found


def main(words: Sequence[str]) -> int:
    """Test all GPUs of this node, and say which have a fault."""
    told = parse(words)
    if told.local is not None:
        return be_rank(told)
    ending = list[int]()
    signal.signal(signal.SIGTERM, lambda number, _: ending.append(number))
    line = [sys.executable, "-B", str(Path(__file__).resolve()), *words]
    children = [
        subprocess.Popen([*line, f"--local={number}"], stdout=subprocess.PIPE, text=True)  # noqa: S603 - itself
        for number in range(told.gpus)
    ]
    until = time.monotonic() + told.minutes * 60 + SLACK
    while any(child.poll() is None for child in children) and not ending and time.monotonic() < until:
        time.sleep(LOOK)
    for child in children:
        if child.poll() is None:
            child.kill()
        child.wait()
    if ending:
        return TOLD
    found = [read(child, told) for child in children]
    unable = next((item["unable"] for item in found if "unable" in item), None)
    if unable is not None:
        say(f"{told.name}: {unable}")
        return UNABLE
    lines = verdicts(found)
    for text in lines:
        say(f"{told.name}: {text}")
    if not lines:
        rates = [item["rate"] for item in found]
        say(f"{told.name}: {told.gpus} GPUs are good, {min(rates):.3g} to {max(rates):.3g} products per second")
    return FAULT if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

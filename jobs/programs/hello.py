"""Fits a line to points on several nodes, with nothing but Python: the smallest program that trains as a gang.

Every node has points of its own and works out in which direction the line is wrong; all take the mean of that, as
data-parallel training does, so that all have the same line after every step. Real programs leave `mean` to
torch.distributed, which meets at the same address.
"""

from __future__ import annotations

import os
import random
import socket
import struct
import time

RANK, WORLD = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
"""Which node this is and how many there are, as the job's launcher says."""

STEPS, RATE = 200, 0.1
PAIR = struct.Struct("!2d")
"""Two numbers on the wire."""


def meet() -> list[socket.socket]:
    """Return connections to all others on the first node, and one to the first node elsewhere."""
    if WORLD == 1:
        return []
    host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    if RANK == 0:
        with socket.create_server(("", port)) as server:
            return [server.accept()[0] for _ in range(WORLD - 1)]
    while True:
        try:
            return [socket.create_connection((host, port))]
        except OSError:  # the first node may start later
            time.sleep(0.1)


def receive(peer: socket.socket) -> tuple[float, float]:
    """Return two numbers; raises EOFError where the other has ended."""
    data = b""
    while len(data) < PAIR.size:
        if not (part := peer.recv(PAIR.size - len(data))):
            raise EOFError("another node has ended")
        data += part
    first, second = PAIR.unpack(data)
    return first, second


def mean(peers: list[socket.socket], own: tuple[float, float]) -> tuple[float, float]:
    """Return the mean over all nodes: the first one adds up and tells."""
    if RANK > 0:
        peers[0].sendall(PAIR.pack(*own))
        return receive(peers[0])
    pairs = [own, *map(receive, peers)]
    found = sum(pair[0] for pair in pairs) / WORLD, sum(pair[1] for pair in pairs) / WORLD
    for peer in peers:
        peer.sendall(PAIR.pack(*found))
    return found


def main() -> None:
    """Fit y = 3x + 2, and print how wrong the line still is."""
    draw = random.Random(RANK)
    points = [(x, 3 * x + 2 + draw.gauss(0, 0.1)) for x in (draw.uniform(-1, 1) for _ in range(1000))]
    slope = shift = 0.0
    peers = meet()
    for step in range(1, STEPS + 1):
        wrong = [(slope * x + shift - y, x) for x, y in points]
        own = 2 * sum(each * x for each, x in wrong) / len(wrong), 2 * sum(each for each, _ in wrong) / len(wrong)
        down = mean(peers, own)
        slope, shift = slope - RATE * down[0], shift - RATE * down[1]
        if step % 20 == 0:
            loss = sum(each * each for each, _ in wrong) / len(wrong)
            print(f"step {step} loss {loss:.4f} line {slope:.2f}x + {shift:.2f}", flush=True)


if __name__ == "__main__":
    main()

"""Trains a language model that is spread over all ranks: fully_shard, sharded checkpoints in the background.

    torchrun --standalone --nproc-per-node=2 fsdp.py --steps 40
    torchrun ... fsdp.py --layers 32 --width 4096 --heads 32 --length 8192 --vocabulary 128256 --data /corpus/tokens.bin

A step takes the same `--batch` sequences whatever the number of ranks, and a checkpoint is dealt out anew to the ranks
that read it. On the same number of ranks a resumed run repeats every bit of one that was never disturbed, on CPUs.
"""

from __future__ import annotations

import argparse
import math
import sys
import zlib
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import torch
import torch.distributed.checkpoint as dcp
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import distribute_tensor
from torch.nn import functional

import keeper
from contract import Lease
from gang import Gang
from keeper import Keeper


class Block(nn.Module):
    """Attention to what came before, and a gated network, each beside a way around it."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, inner = heads, 8 * width // 3 // 16 * 16
        self.before, self.between = nn.RMSNorm(width), nn.RMSNorm(width)
        self.mix, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 2 * inner, bias=False), nn.Linear(inner, width, bias=False)

    def forward(self, words: Tensor, turns: tuple[Tensor, Tensor]) -> Tensor:
        count, length, width = words.shape
        parts = self.mix(self.before(words)).view(count, length, 3, self.heads, width // self.heads)
        query, key, value = (part.transpose(1, 2) for part in parts.unbind(2))
        seen = functional.scaled_dot_product_attention(turned(query, turns), turned(key, turns), value, is_causal=True)
        words = words + self.out(seen.transpose(1, 2).reshape(count, length, width))
        gate, rest = self.up(self.between(words)).chunk(2, -1)
        return words + self.down(functional.silu(gate) * rest)


def turned(half: Tensor, turns: tuple[Tensor, Tensor]) -> Tensor:
    """Turn pairs of numbers by angles that grow with the place in the sequence (rotary embedding)."""
    (cos, sin), (one, two) = turns, half.chunk(2, -1)
    return torch.cat((one * cos - two * sin, two * cos + one * sin), -1).type_as(half)


class Model(nn.Module):
    """A decoder: it says of each token which comes next."""

    def __init__(self, told: argparse.Namespace) -> None:
        super().__init__()
        self.heads = told.heads
        self.tokens = nn.Embedding(told.vocabulary, told.width)
        self.blocks = nn.ModuleList(Block(told.width, told.heads) for _ in range(told.layers))
        self.last, self.head = nn.RMSNorm(told.width), nn.Linear(told.width, told.vocabulary, bias=False)

    def forward(self, sequences: Tensor) -> Tensor:
        words = self.tokens(sequences)
        half = words.shape[-1] // self.heads // 2
        speed = 10_000 ** (-torch.arange(half, device=words.device) / half)
        angles = torch.arange(sequences.shape[1], device=words.device)[:, None] * speed
        turns = angles.cos(), angles.sin()
        for block in self.blocks:
            words = block(words, turns)
        return self.head(self.last(words))


def sharded(told: argparse.Namespace, gang: Gang) -> Model:
    """Return the model, dealt out; each parameter follows from its name alone, and is whole on no rank for long."""
    with torch.device("meta"):
        model = Model(told)
    mesh = init_device_mesh(gang.device.type, (gang.world,))
    half = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    policy = half if gang.device.type == "cuda" else MixedPrecisionPolicy()
    for block in model.blocks:
        fully_shard(block, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    model.to_empty(device=gang.device)
    for name, parameter in model.named_parameters():
        full = torch.ones(parameter.shape)
        if full.dim() > 1:
            full.normal_(std=0.02, generator=torch.Generator().manual_seed(told.seed + zlib.crc32(name.encode())))
        here = distribute_tensor(full.to(gang.device), mesh, parameter.placements)
        with torch.no_grad():
            parameter.copy_(here)
    return model


class Text:
    """Sequences of tokens, in an order that follows from the seed: of a file, or made.

    A file has 16-bit numbers, or 32-bit ones where the vocabulary needs them, and nothing else.
    """

    def __init__(self, told: argparse.Namespace) -> None:
        self.length, self.vocabulary, self.seed = told.length + 1, told.vocabulary, told.seed
        self.file, self.count = None, 1 << 40
        if told.data:
            size, kind = (2, torch.uint16) if told.vocabulary <= 1 << 16 else (4, torch.int32)
            words = Path(told.data).stat().st_size // size
            self.file = torch.from_file(told.data, shared=True, size=words, dtype=kind)
            self.count = words // self.length
        self.stride = self.apart(told.seed)

    def apart(self, seed: int) -> int:
        """Return a stride that meets every sequence once before any twice."""
        stride = int(0.618 * self.count) + seed
        while math.gcd(stride, self.count) != 1:
            stride += 1
        return stride

    def sequence(self, at: int) -> Tensor:
        """Return the sequence that is read as number `at`."""
        index = at * self.stride % self.count
        if self.file is not None:
            return self.file[index * self.length : (index + 1) * self.length].long()
        chance = torch.Generator().manual_seed(index * 1_000_003 + self.seed)
        jumps = torch.randint(1, 4, (self.length,), generator=chance)
        return torch.cumsum(jumps, 0) % self.vocabulary

    def share(self, read: int, batch: int, gang: Gang) -> Tensor:
        """Return this rank's part of the next `batch` sequences, `read` having been read."""
        return torch.stack([self.sequence(at) for at in range(read + gang.rank, read + batch, gang.world)])


class Writer(dcp.FileSystemWriter):
    """Writes a checkpoint's parts; `.metadata`, which makes it complete, only while the folder is ours."""

    def __init__(self, folder: Path, lease: Lease | None) -> None:
        super().__init__(folder)
        self.lease = lease

    def finish(self, metadata: Any, results: Any) -> None:
        """Write the marker, on rank 0, after all ranks have written their parts."""
        if self.lease is not None and not self.lease.held():
            raise RuntimeError(f"{self.lease.holder()} has taken the folder; {self.path} stays incomplete")
        super().finish(metadata, results)


class Sharded:
    """Model and optimizer, of which each rank writes what it has, in the background, and what has been read."""

    marker = ".metadata"

    def __init__(self, gang: Gang, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self.gang, self.model, self.optimizer = gang, model, optimizer
        self.read = 0
        """Sequences read so far, by all ranks."""

    def state(self) -> dict[str, Any]:
        """Return what is saved."""
        model, optimizer = get_state_dict(self.model, self.optimizer)
        return {"model": model, "optimizer": optimizer, "read": torch.tensor(self.read)}

    def save(self, folder: Path, lease: Lease | None) -> Future[object]:
        """Copy the state to the host's memory, and write it while training goes on."""
        return dcp.async_save(self.state(), storage_writer=Writer(folder, lease), process_group=self.gang.saves)

    def whole(self, folder: Path) -> bool:
        """Whether the marker is there, and every file as long as it says."""
        try:
            parts = dcp.FileSystemReader(folder).read_metadata().storage_data.values()
            return all((folder / part.relative_path).stat().st_size >= part.offset + part.length for part in parts)
        except Exception as error:  # noqa: BLE001  (a torn pickle raises almost anything)
            print(f"{folder} cannot be read: {error!r}", flush=True)
            return False

    def load(self, folder: Path) -> None:
        """Read what belongs to this rank, however many wrote it."""
        state = self.state()
        dcp.load(state, storage_reader=dcp.FileSystemReader(folder), process_group=self.gang.saves)
        set_state_dict(self.model, self.optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
        self.read = int(state["read"])


def rate(step: int, told: argparse.Namespace) -> float:
    """Return the learning rate: rising for a twentieth of the steps, then falling like a cosine to a tenth."""
    warm = max(1, told.steps // 20)
    falling = 0.55 + 0.45 * math.cos(math.pi * (step - warm) / max(1, told.steps - warm))
    return told.rate * ((step + 1) / warm if step < warm else falling)


def train_one(model: Any, share: Tensor, told: argparse.Namespace, gang: Gang) -> Tensor:
    """Add up the gradients of this rank's share, in pieces that fit, and return its part of the mean loss."""
    loss = torch.zeros((), device=gang.device)
    pieces = share.to(gang.device).split(told.piece)
    for at, some in enumerate(pieces):
        model.set_requires_gradient_sync(at == len(pieces) - 1)
        said = model(some[:, :-1]).float().flatten(0, 1)
        part = functional.cross_entropy(said, some[:, 1:].flatten(), reduction="sum") / (told.batch * told.length)
        (part * gang.world).backward()
        loss += part.detach()
    return loss


def read() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--vocabulary", type=int, default=512)
    parser.add_argument("--length", type=int, default=256, help="tokens of a sequence")
    parser.add_argument("--data", help="a file of tokens; else they are made")
    parser.add_argument("--batch", type=int, default=32, help="sequences of a step, of all ranks together")
    parser.add_argument("--piece", type=int, default=8, help="sequences that a rank computes at once")
    parser.add_argument("--rate", type=float, default=3e-4)
    keeper.options(parser)
    return parser.parse_args()


def main() -> int:
    """Train, and return the exit code."""
    told = read()
    gang = Gang(patience=told.patience)
    if told.batch % gang.world:
        sys.exit(f"--batch is {told.batch}, which {gang.world} ranks cannot share evenly; choose a multiple")
    model, text = sharded(told, gang), Text(told)
    optimizer = torch.optim.AdamW(model.parameters(), told.rate, betas=(0.9, 0.95), weight_decay=0.1)
    state = Sharded(gang, model, optimizer)
    with Keeper(gang, state, told) as book:
        step = book.resume()
        while step < told.steps and not book.ends:
            for group in optimizer.param_groups:
                group["lr"] = rate(step, told)
            loss = train_one(model, text.share(state.read, told.batch, gang), told, gang)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            state.read += told.batch
            step += 1
            book.after(step, loss.item() if book.logs(step) else None)
        return book.finish(step)


if __name__ == "__main__":
    sys.exit(main())

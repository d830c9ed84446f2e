"""Trains a residual network on images, a replica a rank: DistributedDataParallel, elastic.

    torchrun --standalone --nproc-per-node=2 ddp.py --steps 40
    torchrun ... ddp.py --depth 50 --batch 1024 --data /images/train     # a folder a class, read by torchvision

What is learnt does not depend on how many ranks there are: a step takes the same `--batch` images, whoever computes
them, and no layer looks at the batch as a whole. So a job may shrink, grow and resume anywhere.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

import keeper
from contract import Lease
from gang import Gang
from keeper import Keeper

LAYERS = {
    10: (1, 1, 1, 1),
    18: (2, 2, 2, 2),
    34: (3, 4, 6, 3),
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
}
"""Blocks of the four stages, by depth (He et al. 2015, table 1); from 50 on they have bottlenecks."""

CLASSES = 10
"""Kinds of images where no data set is mounted."""


def norm(channels: int) -> nn.Module:
    """Normalise within an image: BatchNorm would make what is learnt depend on the number of ranks."""
    return nn.GroupNorm(min(32, channels // 4), channels)


class Block(nn.Module):
    """Two convolutions, or three with a bottleneck, and a way around them."""

    def __init__(self, entering: int, width: int, stride: int, *, bottleneck: bool) -> None:
        super().__init__()
        leaving = 4 * width if bottleneck else width
        sizes = (
            [(entering, width, 1), (width, width, 3), (width, leaving, 1)]
            if bottleneck
            else [
                (entering, width, 3),
                (width, width, 3),
            ]
        )
        strided = 1 if bottleneck else 0
        layers: list[nn.Module] = []
        for at, (of, to, size) in enumerate(sizes):
            step = stride if at == strided else 1
            layers += [nn.Conv2d(of, to, size, step, size // 2, bias=False), norm(to), nn.ReLU()]
        self.path = nn.Sequential(*layers[:-1])
        around = [nn.Conv2d(entering, leaving, 1, stride, bias=False), norm(leaving)]
        self.around = nn.Sequential(*around) if stride > 1 or entering != leaving else nn.Identity()
        nn.init.zeros_(self.path[-1].weight)

    def forward(self, images: Tensor) -> Tensor:
        return functional.relu(self.path(images) + self.around(images))


def network(depth: int, width: int, classes: int) -> nn.Module:
    """Return a residual network; `width` is the first stage's."""
    bottleneck = depth >= 50
    layers: list[nn.Module] = [nn.Conv2d(3, width, 7, 2, 3, bias=False), norm(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    entering = width
    for stage, blocks in enumerate(LAYERS[depth]):
        for at in range(blocks):
            stride = 2 if stage > 0 and at == 0 else 1
            layers.append(Block(entering, width << stage, stride, bottleneck=bottleneck))
            entering = (width << stage) * (4 if bottleneck else 1)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(entering, classes))


class Made(Dataset[tuple[Tensor, int]]):
    """Images that nobody has to download: a wave of its own for each class, under noise; the same on every node."""

    def __init__(self, size: int, count: int, seed: int) -> None:
        self.size, self.count, self.seed, self.classes = size, count, seed, CLASSES

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: tuple[int, int]) -> tuple[Tensor, int]:
        _, index = place
        chance = torch.Generator().manual_seed(self.seed * self.count + index)
        label = int(torch.randint(CLASSES, (), generator=chance))
        grid = torch.linspace(0, 2 * math.pi, self.size)
        angle = math.pi * label / CLASSES
        wave = torch.sin(3 * (math.cos(angle) * grid[:, None] + math.sin(angle) * grid[None, :]))
        return wave + 0.3 * torch.randn(3, self.size, self.size, generator=chance), label


class Mounted(Dataset[tuple[Tensor, int]]):
    """Images of a folder, cut and mirrored by a chance that follows from epoch and image, so that it can be resumed."""

    def __init__(self, folder: str, size: int, seed: int) -> None:
        from torchvision import datasets, transforms

        cut = transforms.Compose(
            [
                transforms.RandomResizedCrop(size),
                transforms.RandomHorizontalFlip(),
                transforms.ToTensor(),
                transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
            ]
        )
        self.images, self.seed = datasets.ImageFolder(folder, cut), seed
        self.classes = len(self.images.classes)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, place: tuple[int, int]) -> tuple[Tensor, int]:
        epoch, index = place
        with torch.random.fork_rng(devices=()):
            torch.manual_seed((self.seed * 1000 + epoch) * len(self) + index)
            return self.images[index]


class Shares:
    """What this rank reads in every step from `start` on; the order of all follows from seed and epoch.

    DistributedSampler would give each rank a list of its own, which no other number of ranks can go on with. So it
    shuffles for one replica, that is for all, and each step's images are dealt out here.
    """

    def __init__(self, data: Dataset[tuple[Tensor, int]], gang: Gang, told: argparse.Namespace, start: int) -> None:
        self.order = DistributedSampler(data, num_replicas=1, rank=0, seed=told.seed)
        self.gang, self.batch, self.steps = gang, told.batch, range(start, told.steps)
        self.each = len(data) // told.batch

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        epoch, order = -1, list[int]()
        for step in self.steps:
            if step // self.each != epoch:
                epoch = step // self.each
                self.order.set_epoch(epoch)
                order = list(self.order)
            first = step % self.each * self.batch
            share = order[first + self.gang.rank : first + self.batch : self.gang.world]
            yield [(epoch, index) for index in share]


class OneFile:
    """Model and optimizer in one file, which rank 0 writes: every rank has the same."""

    marker = "complete"

    def __init__(self, gang: Gang, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self.gang, self.parts = gang, {"model": model, "optimizer": optimizer}

    def save(self, folder: Path, lease: Lease | None) -> Future[object]:
        """Write the file, and then the marker, which says how long the file is; the others go on."""
        done: Future[object] = Future()
        if self.gang.rank == 0:
            with (folder / "state.pt").open("wb") as file:
                torch.save({name: part.state_dict() for name, part in self.parts.items()}, file)
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            if lease is not None and not lease.held():
                raise SystemExit(f"{lease.holder()} has taken the folder; {folder} stays incomplete")
            with (folder / self.marker).open("w") as file:
                json.dump({"bytes": size}, file)
                file.flush()
                os.fsync(file.fileno())
        done.set_result(None)
        return done

    def whole(self, folder: Path) -> bool:
        """Whether the marker is there and the file as long as it says."""
        try:
            return (folder / "state.pt").stat().st_size == json.loads((folder / self.marker).read_text())["bytes"]
        except (OSError, ValueError):
            return False

    def load(self, folder: Path) -> None:
        """Read the file, on every rank."""
        state = torch.load(folder / "state.pt", map_location=self.gang.device, weights_only=True)
        for name, part in self.parts.items():
            part.load_state_dict(state[name])


def rate(step: int, told: argparse.Namespace) -> float:
    """Return the share of the learning rate: rising for a twentieth of the steps, then falling like a cosine."""
    warm = max(1, told.steps // 20)
    return (step + 1) / warm if step < warm else (1 + math.cos(math.pi * (step - warm) / max(1, told.steps - warm))) / 2


def train_one(model: nn.Module, gang: Gang, batch: tuple[Tensor, Tensor], told: argparse.Namespace) -> Tensor:
    """Add up the gradients of this rank's share, in pieces that fit, and return its part of the mean loss.

    DDP takes the mean over ranks, whose shares may differ by an image: so each counts by `world / batch`.
    """
    images, labels = (half.to(gang.device, non_blocking=True) for half in batch)
    loss = torch.zeros((), device=gang.device)
    pieces = list(zip(images.split(told.piece), labels.split(told.piece), strict=True))
    for at, (some, of) in enumerate(pieces):
        alone = model.no_sync() if at < len(pieces) - 1 else contextlib.nullcontext()
        with alone, torch.autocast(gang.device.type, torch.bfloat16, enabled=gang.device.type == "cuda"):
            part = functional.cross_entropy(model(some), of, reduction="sum") / told.batch
            (part * gang.world).backward()
        loss += part.detach()
    return loss


def learn(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    gang: Gang,
    batch: tuple[Tensor, Tensor],
    told: argparse.Namespace,
    step: int,
) -> Tensor:
    """Take a step, and return this rank's part of the mean loss."""
    for group in optimizer.param_groups:
        group["lr"] = told.rate * rate(step, told)
    loss = train_one(model, gang, batch, told)
    optimizer.step()
    optimizer.zero_grad()
    return loss


def images(told: argparse.Namespace) -> Made | Mounted:
    """Return the images to learn from."""
    data = Mounted(told.data, told.size, told.seed) if told.data else Made(told.size, told.images, told.seed)
    if len(data) < told.batch:
        sys.exit(f"--batch is {told.batch}, but there are {len(data)} images; take a smaller batch")
    return data


def parser(words: str) -> argparse.ArgumentParser:
    """Return what reads the command line."""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=int, choices=LAYERS, default=18)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--size", type=int, default=224, help="pixels of an image's side")
    parser.add_argument("--data", help="a folder of images, a folder a class in it; else images are made")
    parser.add_argument("--images", type=int, default=50_000, help="how many images are made")
    parser.add_argument("--batch", type=int, default=256, help="images of a step, of all ranks together")
    parser.add_argument("--piece", type=int, default=256, help="images that a rank computes at once")
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--workers", type=int, default=0, help="processes a rank that load images")
    keeper.options(parser)
    return parser


def main() -> int:
    """Train, and return the exit code."""
    told = parser(__doc__).parse_args()
    gang = Gang(patience=told.patience)
    if told.batch < gang.world:
        sys.exit(f"--batch is {told.batch}, but there are {gang.world} ranks; give each at least one image")
    torch.manual_seed(told.seed)
    data = images(told)
    alone = network(told.depth, told.width, data.classes).to(gang.device)
    optimizer = torch.optim.SGD(alone.parameters(), told.rate, momentum=0.9, nesterov=True, weight_decay=1e-4)
    with Keeper(gang, OneFile(gang, alone, optimizer), told) as book:
        step = book.resume()
        model = DistributedDataParallel(alone, device_ids=[gang.device] if gang.device.type == "cuda" else None)
        loader = DataLoader(
            data,
            batch_sampler=Shares(data, gang, told, step),
            num_workers=told.workers,
            pin_memory=gang.device.type == "cuda",
            multiprocessing_context="spawn" if told.workers else None,
        )
        for batch in loader:
            loss = learn(model, optimizer, gang, batch, told, step)
            step += 1
            book.after(step, loss.item() if book.logs(step) else None)
            if book.ends:
                break
        return book.finish(step)


if __name__ == "__main__":
    sys.exit(main())

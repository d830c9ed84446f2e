"""Recommends books: whoever bought this one bought those, counted over all baskets, on CPUs, in plain Python.

    python recommender.py --out /tmp/recommender                     # baskets that are made
    python recommender.py --baskets /orders/2026 --out /artifacts    # folders of CSV files: basket,book

The artifact is a dict that joblib reads: `joblib.load("recommender.joblib")["near"]["book-17"]`. It is written
beside its place and renamed, so that whoever serves from the folder reads the old one or the new one.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import joblib

SHELVES = 20
"""Kinds of books where baskets are made; a reader keeps to one or two."""

LARGEST = 100
"""Books of a basket that count: a library's order says nothing of one reader, and pairs grow with its square."""

Basket = tuple[str, ...]


@dataclass
class Counts:
    """How often books were bought, and how often together."""

    books: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, other: Counts) -> None:
        """Add what was counted elsewhere."""
        self.books.update(other.books)
        self.pairs.update(other.pairs)


def made(part: int, parts: int, told: argparse.Namespace) -> Iterator[Basket]:
    """Yield a part of the baskets that nobody has to download; the same ones however they are divided."""
    for basket in range(part, told.made, parts):
        chance = random.Random(f"{told.seed}/{basket}")
        shelves = chance.sample(range(SHELVES), chance.choice((1, 1, 2)))
        books = {
            f"book-{chance.choice(shelves) + SHELVES * min(int(chance.expovariate(0.15)), told.books // SHELVES - 1)}"
            for _ in range(chance.randint(2, 8))
        }
        yield tuple(sorted(books))


def bought(part: int, parts: int, told: argparse.Namespace) -> Iterator[Basket]:
    """Yield a part of the baskets in the files, whose rows stand together by basket."""
    files = sorted(Path(told.baskets).rglob("*.csv"))
    if not files:
        raise SystemExit(f"{told.baskets} has no CSV file; name a folder of files with columns basket and book")
    for path in files[part::parts]:
        with path.open(newline="", encoding="utf-8") as file:
            for _, rows in itertools.groupby(csv.DictReader(file), key=lambda row: row["basket"]):
                yield tuple(sorted({row["book"] for row in rows}))


def baskets(part: int, told: argparse.Namespace) -> Iterator[Basket]:
    """Yield a part of all baskets."""
    return (bought if told.baskets else made)(part, told.parts, told)


def held_out(basket: Basket, told: argparse.Namespace) -> bool:
    """Whether a basket is kept for judging: the same ones always, one in `--judge-every`."""
    return len(basket) > 1 and random.Random(f"{told.seed}/{basket}").random() < 1 / told.judge_every


def count(part: int, told: argparse.Namespace) -> Counts:
    """Count a part of the baskets."""
    counts = Counts()
    for basket in baskets(part, told):
        if not held_out(basket, told) and len(basket) <= LARGEST:
            counts.books.update(basket)
            counts.pairs.update(itertools.combinations(basket, 2))
    return counts


def near(counts: Counts, most: int) -> dict[str, list[tuple[str, float]]]:
    """Return the nearest books of each, by cosine: together, over the root of the product of how often each."""
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for (one, two), together in counts.pairs.items():
        share = together / math.sqrt(counts.books[one] * counts.books[two])
        found[one].append((two, share))
        found[two].append((one, share))
    return {book: sorted(others, key=lambda other: (-other[1], other[0]))[:most] for book, others in found.items()}


def hits(part: int, told: argparse.Namespace, model: dict[str, list[tuple[str, float]]]) -> tuple[int, int]:
    """Return of how many baskets kept for judging a book was recommended for the others, and how many there are."""
    right = asked = 0
    for basket in baskets(part, told):
        if held_out(basket, told):
            *known, wanted = random.Random(f"{basket}").sample(basket, len(basket))
            shares: Counter[str] = Counter()
            for book in known:
                shares.update(dict(model.get(book, ())))
            best = [book for book, _ in shares.most_common(told.most + len(known)) if book not in known]
            right, asked = right + (wanted in best[: told.most]), asked + 1
    return right, asked


def train(told: argparse.Namespace, each: Callable[..., Iterable[object]]) -> dict[str, object]:
    """Count all parts, add them up, judge, and return the artifact; `each` runs a function for every part, anywhere."""
    total = Counts()
    for done, counts in enumerate(each(count, told), 1):
        assert isinstance(counts, Counts)
        total.add(counts)
        print(f"step={done} baskets_with={total.books.total()}", flush=True)
    if not total.pairs:
        raise SystemExit("no two books were bought together; there is nothing to learn")
    model = near(total, told.most)
    right, asked = (sum(column) for column in zip(*each(hits, told, model), strict=True))
    judged = {"books": len(total.books), "pairs": len(total.pairs), "judged": asked, "hits": right / max(1, asked)}
    return {"near": model, "popular": [book for book, _ in total.books.most_common(told.most)], "metrics": judged}


def write(artifact: dict[str, object], folder: Path) -> None:
    """Write artifact and metrics, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, save in (
        ("recommender.joblib", lambda path: joblib.dump(artifact, path, compress=3)),
        ("metrics.json", lambda path: path.write_text(json.dumps(artifact["metrics"], indent=2) + "\n")),
    ):
        new = folder / f".{name}.{os.getpid()}"
        save(new)
        with new.open("rb+") as file:
            os.fsync(file.fileno())
        new.replace(folder / name)
    print(json.dumps(artifact["metrics"]), flush=True)


def read() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baskets", help="a folder of CSV files with columns basket and book; else baskets are made")
    parser.add_argument("--made", type=int, default=200_000, help="how many baskets are made")
    parser.add_argument("--books", type=int, default=2_000, help="how many books they have")
    parser.add_argument("--out", type=Path, required=True, help="folder of the artifact")
    parser.add_argument("--most", type=int, default=10, help="recommendations for a book")
    parser.add_argument("--judge-every", type=int, default=50, help="one basket of so many is kept for judging")
    parser.add_argument("--parts", type=int, default=16, help="pieces of the work")
    parser.add_argument("--workers", type=int, default=1, help="processes of this machine that share them")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main() -> int:
    """Train on the processes of this machine."""
    told = read()
    with ProcessPoolExecutor(told.workers) as pool:
        artifact = train(
            told, lambda does, *more: pool.map(does, range(told.parts), *([one] * told.parts for one in more))
        )
    write(artifact, told.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Labelled cases on disk: one JSON object a line, with what the server said of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

from apiserver.agreement.cases import OBJECTS
from apiserver.agreement.grow import grow
from apiserver.agreement.verdicts import Case, Ours, Theirs
from trainyard.faces.live.server import Server
from trainyard.upstream.apiserver import Catalog, Kind

CASES = Path(__file__).resolve().parent / "cases.jsonl"
SYSTEMATIC = CASES.with_name("systematic.jsonl")
"""Cases of custom resources alone, made by changing one field at a time, every one in many ways."""
SHARES = (0.0, 0.0, 0.0, 0.15, 0.3, 0.3, 0.5, 0.5, 0.8)
"""Of the free fields, how many an attempt at an object fills in."""
LARGE = 2500
"""Characters above which a case is not recorded."""

Row = tuple[Case, Ours, Theirs]


def write_objects(known: Catalog, server: Server, *, threads: int) -> None:
    """Look for valid objects of every kind, and keep the smallest and the largest that is not too large."""

    def search(kind: Kind) -> list[str]:
        found = [
            grow(kind, Random(f"{kind.api_version}/{kind.kind}/{number}"), server, share=share)
            for number, share in enumerate(SHARES)
        ]
        texts = sorted({json.dumps(item) for item in found if item is not None}, key=lambda text: (len(text), text))
        kept = [text for text in texts if len(text) < LARGE] or texts
        return kept[:1] + kept[1:][-1:]

    kinds = sorted(known.served(), key=lambda item: (item.group, item.version, item.kind))
    with ThreadPoolExecutor(threads) as pool:
        lines = [text for texts in pool.map(search, kinds) for text in texts]
    OBJECTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_cases(rows: Sequence[Row], known: Catalog, *, limit: int) -> None:
    """Record cases, as many of each kind and verdict as there is room for, the small ones first."""
    queues: dict[tuple[Any, ...], list[str]] = {}
    for case, mine, real in rows:
        line = spelled(case, real)
        if real.told and mine.valid == real.valid and len(line) < LARGE:
            key = (
                case.object.get("apiVersion"),
                case.object.get("kind"),
                real.valid,
                case.old is None,
                case.text is None,
            )
            queues.setdefault(tuple(map(str, key)), []).append(line)
    kept: list[str] = []
    while queues and len(kept) < limit:
        for key in sorted(queues):
            kept.append(queues[key].pop(0))
            if not queues[key]:
                del queues[key]
    CASES.write_text("\n".join(sorted(set(kept[:limit]))) + "\n", encoding="utf-8")


def spelled(case: Case, real: Theirs) -> str:
    """Return a case as its line."""
    entry: dict[str, Any] = {"valid": real.valid, "note": case.note}
    if real.by:
        entry |= {"by": real.by, "reason": real.reason[:160]}
    entry |= {"text": case.text} if case.text is not None else {"object": case.object}
    if case.old is not None:
        entry["old"] = case.old
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":"))


def difference(cell: str, case: Case, mine: Ours, real: Theirs) -> dict[str, Any]:
    """Return a disagreement as its line."""
    return {
        "cell": cell,
        "note": case.note,
        "ours": f"{mine.rule} {mine.reason}",
        "server": f"{real.by} {real.reason}"[:2000],
        "object": case.object,
        "old": case.old,
        "text": case.text,
    }


def load_cases(file: Path = CASES) -> Iterator[tuple[Case, bool, str]]:
    """Yield every recorded case of a file, the server's verdict on it, and its reason."""
    for line in file.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        case = Case(entry.get("object", {}), entry["note"], old=entry.get("old"), text=entry.get("text"))
        yield case, entry["valid"], entry.get("reason", "")

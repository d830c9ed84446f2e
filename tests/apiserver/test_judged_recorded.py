"""The whole verdict on core kinds: what kube-apiservers said of changed objects, changes to them and odd YAML.

`data/judged/changes.jsonl` holds changes of the objects of `bases.jsonl`: a path and its new value, or a path alone
where the field is gone; with `before`, the object was first changed by that and stored, and then applied anew.
`texts.jsonl` holds single documents as they were sent. An object is right where creation and server-side apply take
it, an update and a text where apply does. Servers: 1.35.4, and 1.34.4 and 1.36.3 where `kubernetes` says so; without
operators.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from apiserver.core_objects import changed
from trainyard.base.system.data import schemas_dir
from trainyard.judge.checks.inputs import decode
from trainyard.upstream.apiserver import Judge, catalog

DATA = Path(__file__).resolve().parent / "data" / "judged"


def read(name: str) -> list[dict[str, Any]]:
    """Read one file of the recordings."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@cache
def judge(kubernetes: str) -> Judge:
    """Return the judge of a server without operators."""
    return Judge(catalog.load(schemas_dir(None), kubernetes=kubernetes, projects={})[0])


def verdict(data: bytes, *, kubernetes: str = "1.35", old: dict[str, Any] | None = None) -> tuple[bool, list[str]]:
    """Return whether a file of one object is right, and what is wrong with it."""
    manifests, findings = decode("recorded.yaml", data)
    for manifest in manifests:
        findings += judge(kubernetes).judge(manifest, old=old).findings
    wrong = [f"{finding.path}: {finding.message}" for finding in findings if finding.is_error]
    return len(manifests) == 1 and not wrong, wrong


@pytest.mark.parametrize("release", ["1.34", "1.35", "1.36"])
def test_changes_are_judged_as_servers_did(release: str) -> None:
    """Objects of every core kind that is stored, and updates of them, are taken and refused alike."""
    bases, counts, wrong = read("bases"), Counter[bool](), []
    for row in read("changes"):
        if row.get("kubernetes", "1.35") != release:
            continue
        base = bases[row["base"]]
        old = changed(base, row["before"]) if "before" in row else None
        value = changed(base if old is None else old, row["changes"])
        right, said = verdict(json.dumps(value).encode(), kubernetes=release, old=old)
        counts[row["valid"]] += 1
        if right != row["valid"]:
            wrong.append(f"{base['kind']}: {row['changes']}: {said or row.get('reason')}")
    assert not wrong, "\n".join(wrong)
    assert min(counts.values()) >= 30


def test_texts_are_read_as_a_server_read_them() -> None:
    """Scalars, keys, tags, quotes, indentation and damage mean what they mean to a server."""
    wrong, counts = [], Counter[bool]()
    for row in read("texts"):
        right, said = verdict(row["text"].encode())
        counts[row["valid"]] += 1
        if right != row["valid"]:
            wrong.append(f"{row['text']!r}: {said or row.get('reason')}")
    assert not wrong, "\n".join(wrong)
    assert min(counts.values()) >= 100

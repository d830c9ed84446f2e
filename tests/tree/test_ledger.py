from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from trainyard.render.tree import layout, ledger
from trainyard.render.tree.ledger import Entry
from trainyard.render.tree.snapshot import from_contents


def entry(name: str, state: ledger.State = "active") -> Entry:
    """Return an entry."""
    return Entry(name, name[-1], "sha256:0", "1.0.0", state)


ADVANCES = {
    "a first run": ([], entry("a"), False, [("a", "active")]),
    "nothing changes": ([entry("a")], entry("a"), False, [("a", "active")]),
    "an edit": ([entry("a")], entry("b"), False, [("a", "replaced"), ("b", "active")]),
    "a job that ends": ([entry("a")], None, True, [("a", "retired")]),
    "a job that moves away": ([entry("a")], None, False, [("a", "replaced")]),
    "a run after a retired one": ([entry("a", "retired")], entry("b"), False, [("a", "retired"), ("b", "active")]),
    "what has ended stays as it is": (
        [entry("a", "replaced"), entry("b")],
        None,
        True,
        [("a", "replaced"), ("b", "retired")],
    ),
}


@pytest.mark.parametrize(("past", "active", "retired", "after"), ADVANCES.values(), ids=ADVANCES)
def test_entries_only_move_on(past, active, retired, after) -> None:
    """No change removes an entry, reorders them, or takes a state back."""
    assert [(item.name, item.state) for item in ledger.advance(past, active, retired=retired)] == after


def test_a_run_that_exists_keeps_its_entry() -> None:
    """A new digest or release does not rewrite what the ledger remembers."""
    before = entry("a")
    assert ledger.advance([before], Entry("a", "x", "sha256:1", "2.0.0")) == (before,)


def test_a_ledger_is_read_back_as_written() -> None:
    """One run a line, in the order in which they came."""
    entries = (entry("a", "replaced"), entry("b"))
    text = ledger.dump(entries)
    assert ledger.load(text.encode()) == entries
    assert len(text.splitlines()) == 4 + len(entries)
    assert ledger.load(ledger.dump(()).encode()) == ()


BROKEN = {
    "empty": b"",
    "no JSON": b"<<<<<<< HEAD\n",
    "another thing": b"[]",
    "no runs": b"{}",
    "runs of another type": b'{"runs": 3}',
    "an entry without a field": b'{"runs": [{"name": "a"}]}',
    "an entry with a field too many": ledger.dump([entry("a")]).replace('"state"', '"x": "y", "state"').encode(),
    "an unknown state": ledger.dump([entry("a")]).replace("active", "paused").encode(),
    "a name that is a number": ledger.dump([entry("a")]).replace('"a"', "1", 1).encode(),
    "bytes that are no text": b"\xff\xfe",
    "brackets without end": b"[" * 100_000,
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_what_is_no_ledger_is_none(data: bytes) -> None:
    """A damaged ledger is told apart from an empty one."""
    assert ledger.load(data) is None


def test_the_digest_of_files_can_be_checked_by_hand(tmp_path: Path) -> None:
    """It is what `sha256sum * | sha256sum` prints."""
    contents = {"b.yaml": "b: 1\n", "a.yaml": "a: ä\n"}
    for name, text in contents.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    lines = subprocess.run(["sha256sum", "a.yaml", "b.yaml"], cwd=tmp_path, capture_output=True, check=True).stdout
    assert ledger.digest(contents) == "sha256:" + hashlib.sha256(lines).hexdigest()


PLACES = {
    "a ledger": ("atlas/ledger/nlp/llm.json", ("atlas", "nlp", "llm")),
    "a file of a run": ("atlas/runs/nlp/llm-x/job.yaml", None),
    "too deep": ("atlas/ledger/nlp/more/llm.json", None),
    "not deep enough": ("atlas/ledger/llm.json", None),
    "another ending": ("atlas/ledger/nlp/llm.yaml", None),
    "a run's folder named ledger": ("atlas/runs/ledger/llm.json", None),
}


@pytest.mark.parametrize(("path", "job"), PLACES.values(), ids=PLACES)
def test_a_path_says_whose_ledger_it_is(path: str, job: tuple[str, str, str] | None) -> None:
    """Cluster, team and job stand in the path alone."""
    assert layout.job_of_ledger(path) == job


def test_ledgers_that_are_as_at_the_base_are_not_read() -> None:
    """Their ids say so; those of another content are read, and of the same content in another place too."""
    texts = {name: ledger.dump((entry(f"{name}-1"),)).encode() for name in ("a", "b", "c")}
    asked: list[str] = []
    found = {"test/ledger/nlp/a.json": "a", "test/ledger/nlp/b.json": "b"}

    def contents(paths: Sequence[str]) -> Iterator[bytes]:
        asked.extend(paths)
        return (texts[found[path]] for path in paths)

    base = from_contents(found, contents)
    asked.clear()
    found = {**found, "test/ledger/nlp/b.json": "c", "other/ledger/nlp/a.json": "a"}
    now = from_contents(found, contents, base=base)
    assert sorted(asked) == ["other/ledger/nlp/a.json", "test/ledger/nlp/b.json"]
    assert now.ledgers == from_contents(found, contents).ledgers

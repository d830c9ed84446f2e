"""What work reads is written down, for whom it is read, and holds while it is as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.base.memory import World, from_json, to_json
from trainyard.base.system import files, reads
from trainyard.base.system.reads import ABSENT, FILE, UNSTEADY


def test_a_file_that_changes_is_not_what_was_read(tmp_path: Path) -> None:
    """What was read holds while the file has its content, whatever its times say; one that is new is a change too."""
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_text("1")
    with reads.recording(World()) as record:
        files.read(path)
        files.read(other)
    assert record.common == {(FILE, str(path)): World().name_content(b"1"), (FILE, str(other)): ABSENT}
    assert World().holds(record.common)
    path.write_text("2")
    assert not World().holds(record.common)
    path.write_text("1")
    assert World().holds(record.common)
    other.write_text("")
    assert not World().holds(record.common)


def test_a_file_that_changes_between_two_reads_holds_never(tmp_path: Path) -> None:
    """Nobody knows which of the two contents counted."""
    path = tmp_path / "a"
    path.write_text("1")
    with reads.recording(World()) as record:
        files.read(path)
        path.write_text("2")
        files.read(path)
    assert record.common == {(FILE, str(path)): UNSTEADY}
    assert not World().holds(record.common)


def test_what_is_read_about_a_subject_counts_for_it_alone(tmp_path: Path) -> None:
    """What is read about nobody counts for all."""
    for name in "abc":
        (tmp_path / name).write_text(name)
    with reads.recording(World()) as record:
        files.read(tmp_path / "a")
        with reads.about("one", "two"):
            files.read(tmp_path / "b")
        with reads.about("two"):
            files.read(tmp_path / "c")
    names = {subject: {Path(path).name for _, path in record.reads_of(subject)} for subject in ("one", "two", "three")}
    assert names == {"one": {"a", "b"}, "two": {"a", "b", "c"}, "three": {"a"}}


def test_work_inside_work_tells_what_it_read(tmp_path: Path) -> None:
    """A result that is made of another one follows from what that one follows from."""
    (tmp_path / "a").write_text("a")
    with reads.recording(World()) as outer, reads.recording(World()):
        files.read(tmp_path / "a")
    assert World().holds(outer.common)
    assert len(outer.common) == 1


def test_variables_of_the_environment_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is set, unset or another is a change."""
    monkeypatch.delenv("TRAINYARD_TEST", raising=False)
    with reads.recording(World()) as record:
        assert reads.variable("TRAINYARD_TEST") is None
    assert World().holds(record.common)
    monkeypatch.setenv("TRAINYARD_TEST", "")
    assert not World().holds(record.common)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """Reads of several results share what is the same, and each holds by itself."""
    for name in "abc":
        (tmp_path / name).write_text(name)
    with reads.recording(World()) as record:
        files.read(tmp_path / "a")
        for subject in "bc":
            with reads.about(subject):
                files.read(tmp_path / subject)
    made = {subject: record.reads_of(subject) for subject in "bc"}
    traces = from_json(to_json(made))
    assert {subject: traces.of(subject) for subject in "bc"} == made
    (tmp_path / "b").write_text("x")
    world = World()
    assert [traces.holds(subject, world) for subject in "bc"] == [False, True]

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from small_site import Site, rules
from trainyard.base.errors import SpecError
from trainyard.base.system import files
from trainyard.render.tree import index, ledger


def test_a_second_synth_writes_nothing(site: Site) -> None:
    """A tree that is as it should be is left alone, down to the times of its files."""
    times = {path: path.stat().st_mtime_ns for path in site.generated.rglob("*")}
    work = site.synth()
    assert not work.changes
    assert {path: path.stat().st_mtime_ns for path in site.generated.rglob("*")} == times


def change(site: Site) -> None:
    """Ask for everything at once: runs that end, begin and are replaced, queues that come and go."""
    site.job("nlp/llm", nodes=5)
    site.job("vision/new")
    site.clusters["test"] = ["research", "batch"]


@pytest.mark.slow
def test_a_synth_that_is_killed_is_completed_by_the_next(site: Site) -> None:
    """Stopped after any number of steps, only whole files are there, and the next synth ends where one would have."""
    change(site)
    wanted = site.prepare()
    steps = len(list(wanted.write()))
    complete = site.files()
    assert steps > 10
    for stop in range(steps):
        site.repo.git("checkout", "-q", "--", "generated")
        site.repo.git("clean", "-qfd", "generated")
        work = site.prepare()
        before = site.files()
        for _, _path in zip(range(stop), work.write(), strict=False):
            pass
        half = site.files()
        assert all(half[path] in (before.get(path), complete.get(path)) for path in half)
        site.synth()
        assert site.files() == complete


@pytest.mark.slow
def test_a_killed_synth_knows_its_files_also_when_the_specs_change(site: Site) -> None:
    """What a killed synth wrote for a spec that is edited before the next one goes, and is nobody else's."""
    change(site)
    steps = len(list(site.prepare().write()))
    for stop in range(steps):
        site.repo.git("checkout", "-q", "--", "generated")
        site.repo.git("clean", "-qfd", "generated")
        for _, _path in zip(range(stop), site.prepare().write(), strict=False):
            pass
        jobs, clusters = dict(site.jobs), dict(site.clusters)
        del site.jobs["vision/new"]
        site.jobs["nlp/llm"] = {"nodes": 6}
        site.clusters = {"test": ["research"]}
        work = site.synth()
        assert work.changes.foreign == ()
        assert work.changes.overwrite == ()
        assert not [path for path in site.files() if "new" in path or "batch" in path]
        site.jobs, site.clusters = jobs, clusters


def test_ledgers_are_written_last_and_indexes_before_what_they_list(site: Site) -> None:
    """A run exists once its ledger says so; a file is never on disk without an index that owns it."""
    change(site)
    work = site.prepare()
    owned: set[str] = set()
    done: list[str] = []
    for path in work.write():
        done.append(path)
        for found in (site.generated / "test/index").rglob("*.json"):
            folder = found.relative_to(site.generated / "test/index").as_posix().removesuffix(".json")
            owned |= {f"test/{folder}/{name}" for name in index.load(found.read_bytes(), folder) or ()}
        objects = {path for path in site.files() if not path.startswith(("test/index/", "test/ledger/"))}
        assert objects <= owned
    ledgers = [number for number, path in enumerate(done) if "/ledger/" in path]
    assert ledgers == list(range(len(done) - len(ledgers), len(done)))


def test_a_process_killed_while_it_writes_leaves_the_old_file(tmp_path: Path) -> None:
    """Between the first byte and the rename the old content stands; the leftover is known as such and removed."""
    path = tmp_path / "a.txt"
    path.write_text("old")
    script = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom trainyard.base.system import files\n"
        "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\nfiles.write(Path(sys.argv[1]), 'new')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], env={"PYTHONPATH": str(ROOT / "platform")}, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    leftovers = [found.path for found in files.walk(tmp_path) if files.is_temporary(found.path)]
    assert len(leftovers) == 1
    files.write(path, "new")
    assert path.read_text() == "new"


def test_what_a_killed_write_left_is_removed(site: Site) -> None:
    """Half a file is nobody's."""
    left = site.repo.put(f"generated/test/platform/{files.MARK}123-4{files.ENDING}", "apiVersion: v")
    assert [finding.rule for finding in site.prepare(checking=True).findings] == ["run/leftover"]
    site.synth()
    assert not left.exists()


@pytest.mark.parametrize(
    "name",
    [".trainyard-1-1.yaml", ".trainyard-1-1", ".trainyard-x.tmp", ".hidden.yaml", "a.txt", "job.yml", ".gitkeep"],
)
def test_nothing_unseen_is_in_the_tree(site: Site, name: str) -> None:
    """Whatever no spec owns fails a check, also under a name that looks like ours; Argo CD applies hidden files."""
    folder = site.repo.root / "generated/test/runs/nlp"
    path = site.repo.put(f"generated/test/runs/nlp/{name}", "apiVersion: batch/v1\nkind: Job\n")
    assert not site.prepare(checking=True).changes.leftover
    assert [(finding.rule, finding.severity.value) for finding in site.prepare(checking=True).findings] == [
        ("run/foreign-file", "error")
    ]
    site.synth()
    assert path.exists()
    path.unlink()
    (folder / name).symlink_to(folder / "nowhere")
    assert [finding.rule for finding in site.prepare(checking=True).findings if finding.is_error] == [
        "run/foreign-file"
    ]


def test_a_failed_write_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk raises, and nothing of the new content stays."""
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        files.write(path, "new")
    assert [found.name for found in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text() == "old"


def test_a_file_made_by_hand_is_reported_and_kept(site: Site) -> None:
    """A synth says so and goes on; a check fails."""
    notes = site.repo.put("generated/test/platform/NOTES.md", "mine")
    extra = site.repo.put("generated/test/runs/nlp/secret.mine.yaml", "kind: Secret\n")
    work = site.synth()
    assert work.changes.foreign == ("test/platform/NOTES.md", "test/runs/nlp/secret.mine.yaml")
    assert [(finding.rule, finding.severity.value) for finding in work.findings] == [
        ("run/foreign-file", "warning")
    ] * 2
    assert notes.read_text() == "mine"
    assert extra.exists()
    checked = site.prepare(checking=True)
    assert [finding.location.file for finding in checked.findings if finding.is_error] == [
        "generated/test/platform/NOTES.md",
        "generated/test/runs/nlp/secret.mine.yaml",
    ]


def test_a_file_made_by_hand_under_a_name_of_ours_is_replaced_with_a_word(site: Site) -> None:
    """The name belongs to a spec, so the content does too."""
    path = site.repo.put("generated/test/platform/clusterqueue.batch.yaml", "mine: true\n")
    site.clusters["test"].append("batch")
    work = site.synth()
    assert work.changes.overwrite == ("test/platform/clusterqueue.batch.yaml",)
    assert [finding.rule for finding in work.findings] == ["run/foreign-file"]
    assert "mine" not in path.read_text()


def test_what_no_spec_owns_any_more_is_removed(site: Site) -> None:
    """Files of a queue that is gone go, and folders that this leaves empty."""
    site.clusters["eu"] = ["batch"]
    site.commit()
    del site.clusters["eu"]
    work = site.synth()
    assert work.changes.remove
    assert not (site.generated / "eu").exists()


def test_a_stranger_keeps_its_folder(site: Site) -> None:
    """A folder is removed only when nothing is left in it."""
    site.clusters["eu"] = ["batch"]
    site.commit()
    own = site.repo.put("generated/eu/platform/README", "mine")
    del site.clusters["eu"]
    site.synth()
    assert set(site.files("eu")) == {"platform/README"}
    assert own.exists()


def test_a_file_that_an_index_at_the_base_lists_is_ours(site: Site) -> None:
    """With the index on disk lost or full of conflict marks, the base's still knows."""
    site.clusters["test"] = ["research", "batch"]
    site.repo.git("switch", "-q", "main")
    site.commit()
    site.repo.git("switch", "-qC", "work")
    (site.generated / "test/index/platform.json").write_text("<<<<<<<\n")
    site.clusters["test"] = ["research"]
    work = site.synth()
    assert work.changes.foreign == ()
    assert "test/platform/clusterqueue.batch.yaml" in work.changes.remove


def test_links_are_not_followed(site: Site, tmp_path: Path) -> None:
    """A link in the place of a folder would lead the writes elsewhere, so nothing is written."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (site.generated / "test/runs/vision/link.yaml").symlink_to(outside / "x")
    (site.generated / "eu").symlink_to(outside)
    work = site.synth()
    assert work.changes.foreign == ("eu", "test/runs/vision/link.yaml")
    site.clusters["eu"] = ["research"]
    assert site.problems() == ["run/in-the-way"]
    with pytest.raises(SpecError, match="blocks a file or folder"):
        list(site.prepare().write())
    assert list(outside.iterdir()) == []


def test_a_link_in_the_place_of_a_file_is_in_the_way(site: Site, tmp_path: Path) -> None:
    """Neither the link nor what it points at is touched."""
    target = tmp_path / "target"
    target.write_text("mine")
    path = site.generated / "test/platform/clusterqueue.research.yaml"
    path.unlink()
    path.symlink_to(target)
    assert site.problems() == ["run/in-the-way"]
    assert target.read_text() == "mine"


def test_a_file_in_the_place_of_a_folder_is_in_the_way(site: Site) -> None:
    """The message names it."""
    site.repo.put("generated/eu", "a file")
    site.clusters["eu"] = ["research"]
    assert site.problems() == ["run/in-the-way"]


def test_a_stale_tree_is_a_diff_and_an_error(site: Site) -> None:
    """The diff leads from the disk to what should be, with what is new and what goes."""
    site.clusters["test"] = ["research", "batch"]
    (site.generated / "test/teams/nlp/localqueue.research.yaml").write_text("kind: Other\n")
    work = site.prepare(checking=True)
    lines = list(work.diff())
    assert rules(work) == ["run/stale"]
    assert "--- /dev/null" in lines
    assert "+++ b/generated/test/platform/clusterqueue.batch.yaml" in lines
    assert "--- a/generated/test/teams/nlp/localqueue.research.yaml" in lines
    assert "-kind: Other" in lines
    assert "+kind: LocalQueue" in lines


def test_a_check_writes_nothing(site: Site) -> None:
    """Only a synth writes."""
    change(site)
    before = site.files()
    site.check()
    assert site.files() == before


def test_a_diff_shows_a_missing_line_feed_and_bytes_that_are_no_text(site: Site) -> None:
    """Two files that differ in their last byte are not shown as equal."""
    path = site.generated / "test/platform/clusterqueue.research.yaml"
    path.write_bytes(path.read_bytes().rstrip(b"\n") + b"\xff")
    lines = list(site.prepare(checking=True).diff())
    assert any(line.startswith("-") and "\\xff" in line for line in lines)
    path.write_bytes(path.read_bytes()[:-1])
    assert list(site.prepare(checking=True).diff())


def test_crlf_line_ends_are_stale(site: Site) -> None:
    """Every file has LF."""
    path = site.generated / "test/platform/clusterqueue.research.yaml"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert site.check() == ["diff", "run/stale"]
    site.synth()
    assert b"\r" not in path.read_bytes()


def test_nothing_is_written_while_an_error_stands(site: Site) -> None:
    """A refused change leaves the tree as it is."""
    before = site.files()
    site.delete("nlp/llm")
    site.job("nlp/other")
    work = site.prepare()
    assert work.refused
    assert site.files() == before


def test_ledgers_of_nobody_are_removed_but_files_beside_them_stay(site: Site) -> None:
    """A ledger of a job that never was is ours to remove; a text beside it is not."""
    forged = site.repo.put(
        "generated/test/ledger/nlp/ghost.json", ledger.dump([ledger.Entry("ghost-a", "a", "sha256:0", "1")])
    )
    text = site.repo.put("generated/test/ledger/nlp/why.json", "{}")
    work = site.synth()
    assert not forged.exists()
    assert text.exists()
    assert work.changes.foreign == ("test/ledger/nlp/why.json",)

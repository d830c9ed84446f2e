"""What was stored can be restored byte for byte, whatever is killed, full, half written or still alive elsewhere."""

import json
import random
import signal
import time

import pytest

from flushed_nodes import Job, until


@pytest.fixture
def job(tmp_path):
    """A job of two nodes, whose processes end with the test."""
    made = Job(tmp_path, nodes=2)
    yield made
    made.end()


def begun(job):
    """Return an attempt that has restored, with its copying processes."""
    attempt = job.begin()
    assert job.restore(attempt) == [0] * job.nodes
    for index in range(job.nodes):
        job.attend(attempt, index)
    until(lambda: all("looks for" in log.read_text() for log in attempt.logs if "keep" in log.name))
    return attempt


def check_restored(job, attempt):
    """Assert that all nodes see the same whole checkpoint, none older than what was reported as stored."""
    seen = job.seen(attempt)
    assert all(one == seen[0] for one in seen)
    name, state = seen[0]
    if not name:
        assert job.acknowledged() == -1
        return -1
    step = int(name.partition("-")[2])
    assert step >= job.acknowledged()
    number = state["complete"].decode().split()[0]
    assert state == job.saved[f"{number}/{name}"]
    return step


@pytest.mark.parametrize("seed", range(6))
def test_no_stored_checkpoint_is_lost(tmp_path, seed):
    """Whatever is killed whenever: nodes restore one whole checkpoint, as saved, and never an older one than stored."""
    chance = random.Random(seed)
    job = Job(tmp_path, nodes=chance.choice((1, 2, 3)), keep=chance.choice((1, 2)))
    step, left = 0, []
    try:
        for _ in range(5):
            attempt = job.begin()
            assert job.restore(attempt) == [0] * job.nodes
            step = max(0, check_restored(job, attempt))
            for index in range(job.nodes):
                job.attend(attempt, index)
            for _ in range(chance.randrange(1, 5)):
                step += chance.randrange(1, 20)
                job.save(attempt, step, chance)
                time.sleep(chance.choice((0, 0.02, 0.1, 0.3)))
                if chance.random() < 0.6:
                    victim = chance.randrange(job.nodes)
                    job.kill(attempt, victim)
                    job.attend(attempt, victim)
            left.append(attempt) if chance.random() < 0.4 else job.kill(attempt)
        attempt = job.begin()
        assert job.restore(attempt) == [0] * job.nodes
        check_restored(job, attempt)
    finally:
        job.end()
    assert len(list(job.volume.glob("step-*"))) <= job.keep + 1


def test_last_checkpoint_is_stored_at_the_end(job):
    """SIGTERM after training stores the newest checkpoint, and both nodes end with 0."""
    attempt = begun(job)
    job.save(attempt, 7, random.Random(1))
    assert job.kill(attempt, sign=signal.SIGTERM) == [0, 0]
    assert job.acknowledged() == 7
    again = begun(job)
    assert check_restored(job, again) == 7


def test_checkpoint_without_marker_is_not_stored(job):
    """Half of a checkpoint stays where it is: its marker is missing on the first node."""
    attempt = begun(job)
    name = job.save(attempt, 3, random.Random(2))
    until(lambda: job.acknowledged() == 3)
    (attempt.disks[0] / "step-5").mkdir()
    (attempt.disks[0] / "step-5" / "__0_0.distcp").write_bytes(b"half")
    assert job.kill(attempt, sign=signal.SIGTERM) == [0, 0]
    assert [path.name for path in job.volume.glob("step-*")] == [name]


def test_checkpoint_that_a_node_lacks_is_not_stored(job):
    """A node without files of a checkpoint has lost them: the checkpoint does not count, and a later one does."""
    attempt = begun(job)
    (attempt.disks[0] / "step-4").mkdir()
    (attempt.disks[0] / "step-4" / "complete").write_bytes(b"0 4")
    until(lambda: any("not stored yet" in log.read_text() for log in attempt.logs))
    assert not list(job.volume.glob("step-*"))
    job.save(attempt, 6, random.Random(3))
    until(lambda: job.acknowledged() == 6)


def test_files_of_one_name_do_not_replace_each_other(job):
    """Where two nodes write different files of one name, neither is taken for the other's."""
    attempt = begun(job)
    for index, disk in enumerate(attempt.disks):
        (disk / "step-4").mkdir()
        (disk / "step-4" / "state").write_bytes(bytes([index]))
    (attempt.disks[0] / "step-4" / "complete").write_bytes(b"0 4")
    until(lambda: any("different files" in log.read_text() for log in attempt.logs))
    assert not list(job.volume.glob("step-*"))


def test_full_disk_costs_no_older_checkpoint(job):
    """While the disk is full nothing is stored and nothing is deleted; with room again the newest is stored."""
    attempt = begun(job)
    job.save(attempt, 1, random.Random(4))
    until(lambda: job.acknowledged() == 1)
    job.kill(attempt, 1)
    job.attend(attempt, 1, limit=1000)
    job.save(attempt, 2, random.Random(5))
    until(lambda: any("File too large" in log.read_text() for log in attempt.logs))
    assert [path.name for path in job.volume.glob("step-*")] == ["step-1"]
    job.kill(attempt, 1)
    job.attend(attempt, 1)
    until(lambda: job.acknowledged() == 2)


def test_earlier_attempt_stores_nothing_after_a_later_one_has_begun(job):
    """A pod on a lost node that is still alive changes nothing of what the next attempt begins with."""
    old = begun(job)
    job.save(old, 10, random.Random(6))
    until(lambda: job.acknowledged() == 10)
    job.kill(old, 1)  # the leader waits for this node's part of the next one
    job.save(old, 20, random.Random(7))
    time.sleep(0.1)
    new = begun(job)
    assert check_restored(job, new) == 10
    job.attend(old, 1)
    assert old.agents[0].wait(timeout=30) == 1
    assert old.agents[1].wait(timeout=30) == 1
    job.save(new, 11, random.Random(8))
    until(lambda: job.acknowledged() == 11)
    assert {path.name for path in job.volume.glob("step-*")} == {"step-10", "step-11"}


def test_torn_checkpoint_on_the_volume_is_not_restored(job):
    """A checkpoint that lost a file, or a part of one, after it was stored is passed over for an older whole one."""
    attempt = begun(job)
    for step in (1, 2):
        job.save(attempt, step, random.Random(step))
        until(lambda step=step: job.acknowledged() == step)
    job.kill(attempt)
    torn = job.volume / "step-2" / "part" / "__1_0.distcp"
    torn.write_bytes(torn.read_bytes()[:-1])
    (job.volume / "step-9").mkdir()
    again = job.begin()
    assert job.restore(again) == [0, 0]
    assert {name for name, _ in job.seen(again)} == {"step-1"}


def test_checkpoints_from_before_the_local_tier_count(job):
    """A job that gets a local tier goes on from what it saved to the volume itself."""
    job.begin()
    (job.volume / "step-30").mkdir()
    (job.volume / "step-30" / "complete").write_bytes(b"direct")
    attempt = job.begin()
    assert job.restore(attempt) == [0, 0]
    assert job.seen(attempt) == [("step-30", {"complete": b"direct"})] * 2


def test_mark_has_the_sum_of_every_file(job):
    """The mark of a stored checkpoint lists the size and the SHA-256 of each of its files, and there are no others."""
    import hashlib

    attempt = begun(job)
    name = job.save(attempt, 5, random.Random(9))
    until(lambda: job.acknowledged() == 5)
    said = json.loads((job.volume / name / ".flushed").read_text())
    saved = job.saved[f"0/{name}"]
    assert said["files"] == {path: [len(data), hashlib.sha256(data).hexdigest()] for path, data in saved.items()}
    there = {str(path.relative_to(job.volume / name)) for path in (job.volume / name).rglob("*") if path.is_file()}
    assert there == {*saved, ".flushed"}


def test_copies_are_as_slow_as_is_said(job):
    """With a bandwidth of 100 kB/s a node takes seconds for a checkpoint of a few hundred."""
    job.extra = {"FLUSH_BYTES_PER_SECOND": "100000"}
    attempt = begun(job)
    began = time.monotonic()
    name = job.save(attempt, 1, random.Random(10))
    until(lambda: job.acknowledged() == 1)
    size = max(sum(len(data) for path, data in job.saved[f"0/{name}"].items() if f"__{i}_" in path) for i in range(2))
    assert time.monotonic() - began >= size / 100000 * 0.9

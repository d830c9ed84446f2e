"""The programs of jobs/programs keep docs/programs.md: killed, told to end, moved and resumed, they learn the same."""

from __future__ import annotations

import os
import uuid

import pytest

from ranks import Launcher, forks, metrics, needs_torch

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.timeout(150), needs_torch]

forks.set_forkserver_preload(["torch", "torch.distributed.checkpoint", "torch.distributed.fsdp", "torch._dynamo"])

STEPS = 10

PACE = 0.1
"""Seconds of a step where a test meddles with one that is neither the first nor the last."""

COMMON = ("--steps", STEPS, "--log-every", 1, "--lease-seconds", 0.6)
FSDP = ("--layers", 2, "--width", 16, "--heads", 2, "--vocabulary", 64, "--length", 16, "--batch", 12, "--rate", 0.01)
DDP = ("--depth", 10, "--width", 8, "--size", 24, "--images", 50, "--batch", 10, "--piece", 3, "--rate", 0.03)
PROGRAMS = {"fsdp.py": (*FSDP, *COMMON), "ddp.py": (*DDP, *COMMON)}
MARKERS = {"fsdp.py": ".metadata", "ddp.py": "complete"}

value = pytest.mark.parametrize("program", PROGRAMS)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The losses of a program that nothing disturbs, by program and number of ranks; each is found out once."""
    known = {}

    def losses(program, world=2):
        if (program, world) not in known:
            folder = tmp_path_factory.mktemp("undisturbed")
            gang = Launcher(folder / "checkpoints", folder / "errors")(program, PROGRAMS[program], world=world)
            assert gang.ended() == [0] * world, gang.errors()
            known[program, world] = gang.losses()
            assert list(known[program, world]) == list(range(1, STEPS + 1))
        return known[program, world]

    return losses


def resumed(gang):
    """The step that a gang resumed at."""
    return int(gang.until("resumed step=").split("step=")[1].split()[0])


@value
def test_a_program_learns(undisturbed, program):
    """The loss falls, so that what the other tests compare depends on what was learnt."""
    losses = [float(loss) for loss in undisturbed(program).values()]
    assert sum(losses[-3:]) < sum(losses[:3]) - 0.3


@value
@pytest.mark.parametrize("killed", [0, 1])
def test_a_killed_gang_goes_on_at_its_checkpoint(train, undisturbed, program, killed):
    """Without a word to anybody: the next gang resumes at the newest complete checkpoint and repeats every bit."""
    first = train(program, (*PROGRAMS[program], "--save-every", 3, "--pace", PACE))
    first.until("saved step=3")
    first.kill(killed)
    codes = first.ended()
    assert 0 not in codes, codes
    second = train(program, PROGRAMS[program])
    step = resumed(second)
    assert step in (3, 6, 9)
    assert second.ended() == [0, 0], second.errors()
    expected = undisturbed(program)
    assert second.losses() == {at: expected[at] for at in range(step + 1, STEPS + 1)}
    assert {at: expected[at] for at in first.losses()} == first.losses()


@value
@pytest.mark.parametrize("told", [(), (1,)], ids=["all ranks", "one rank of a drained node"])
def test_a_gang_that_is_told_to_end_saves_and_is_not_complete(train, undisturbed, program, told):
    """SIGTERM leaves a checkpoint of the step that all ranks agreed on, and 143 on every rank."""
    first = train(program, (*PROGRAMS[program], "--pace", PACE))
    first.until("step=2 ")
    first.tell(*told)
    assert first.ended() == [143, 143], first.errors()
    (saved,) = train.steps(MARKERS[program])
    assert saved == max(first.losses())
    assert not (train.folder / "lease").exists()
    second = train(program, PROGRAMS[program])
    assert resumed(second) == saved
    assert second.ended() == [0, 0], second.errors()
    assert {**first.losses(), **second.losses()} == undisturbed(program)


@value
@pytest.mark.parametrize("worlds", [(1, 3), (2, 1), (3, 2)])
def test_a_gang_of_another_size_goes_on(train, undisturbed, program, worlds):
    """A checkpoint is dealt out to however many ranks there are, and the batch stays the same: so does the loss."""
    before, after = worlds
    first = train(program, (*PROGRAMS[program], "--pace", PACE), world=before)
    first.until("step=3 ")
    first.tell()
    assert first.ended() == [143] * before, first.errors()
    second = train(program, PROGRAMS[program], world=after)
    assert resumed(second) == max(first.losses())
    assert second.ended() == [0] * after, second.errors()
    found = {at: float(loss) for at, loss in (first.losses() | second.losses()).items()}
    assert found == pytest.approx({at: float(loss) for at, loss in undisturbed(program).items()}, rel=2e-3)


@value
def test_checkpoints_that_are_not_whole_are_passed_over(train, program):
    """A folder without its marker, and one with its marker that has lost a byte, are not resumed from."""
    first = train(program, (*PROGRAMS[program], "--save-every", 3), CHECKPOINT_KEEP="9")
    assert first.ended() == [0, 0], first.errors()
    assert train.steps(MARKERS[program]) == [3, 6, 9, 10]
    of = {int(path.name.split("-")[1]): path for path in train.folder.glob("step-*")}
    (of[10] / MARKERS[program]).unlink()
    largest = max((path for path in of[9].iterdir() if path.name != MARKERS[program]), key=lambda path: path.name)
    os.truncate(largest, largest.stat().st_size - 1)
    second = train(program, PROGRAMS[program])
    assert resumed(second) == 6
    assert second.ended() == [0, 0], second.errors()
    assert second.text.count("skipped ") == 2
    assert train.steps(MARKERS[program]) == [6, 10]


@value
def test_the_newest_checkpoints_are_kept(train, program):
    """As many as the job says stay, and nothing of a torn one; the folder is free when training is complete."""
    torn = train.folder / "step-1-torn"
    torn.mkdir(parents=True)
    (torn / "__0_0.distcp").write_bytes(b"half")
    gang = train(program, (*PROGRAMS[program], "--save-every", 2), CHECKPOINT_KEEP="3")
    assert gang.ended() == [0, 0], gang.errors()
    assert sorted(int(path.name.split("-")[1]) for path in train.folder.glob("step-*")) == [6, 8, 10]
    assert sorted(path.name for path in train.folder.iterdir() if "step" not in path.name) == ["metrics.jsonl"]
    lines = metrics(train.folder)
    assert [line["step"] for line in lines] == list(range(1, STEPS + 1))
    assert {line["run"] for line in lines} == {"count-0aaaaaaa"}


@value
def test_checkpoints_come_as_often_as_the_job_says(train, program):
    """CHECKPOINT_EVERY_MINUTES is kept by the clock of rank 0."""
    gang = train(program, PROGRAMS[program], CHECKPOINT_EVERY_MINUTES="0", CHECKPOINT_KEEP="99")
    assert gang.ended() == [0, 0], gang.errors()
    assert train.steps(MARKERS[program]) == list(range(1, STEPS + 1))


@value
def test_nothing_is_saved_where_there_is_no_time(train, program):
    """A save that takes longer than what is left is not begun, and the program still says that it was told to end."""
    gang = train(program, (*PROGRAMS[program], "--save-every", 2, "--pace", PACE), CHECKPOINT_GRACE_SECONDS="0")
    gang.until("saved step=2")
    gang.tell()
    assert gang.ended() == [143, 143], gang.errors()
    assert all(step % 2 == 0 for step in train.steps(MARKERS[program]))


def test_a_folder_that_another_run_holds_is_refused(train):
    """Two live runs do not write into one folder; when the first one dies, so do its signs of life."""
    slow = (*PROGRAMS["fsdp.py"], "--steps", 100_000)
    first = train("fsdp.py", slow, world=1)
    first.until("step=1 ")
    second = train("fsdp.py", (*PROGRAMS["fsdp.py"], "--patience", 1), RUN_NAME="count-0bbbbbbb")
    assert second.ended() == [1, 1], second.errors()
    assert "refused: count-0aaaaaaa/" in second.text
    first.kill(0)
    first.ended()
    third = train("fsdp.py", PROGRAMS["fsdp.py"], RUN_NAME="count-0bbbbbbb")
    assert third.ended() == [0, 0], third.errors()


@value
def test_a_run_that_has_lost_its_folder_writes_nothing_more(train, program):
    """Another's name in the lease ends a run that was thought dead, and leaves no checkpoint of it."""
    first = train(program, (*PROGRAMS[program], "--steps", 100_000))
    first.until("step=1 ")
    (new := train.folder / "other").write_text(f"count-0bbbbbbb/{uuid.uuid4()} 1")
    new.replace(train.folder / "lease")
    codes = first.ended()
    assert 0 not in codes
    assert 143 not in codes
    assert "count-0bbbbbbb" in first.errors()
    assert list(train.folder.glob("step-*")) == []
    assert (train.folder / "lease").read_text().startswith("count-0bbbbbbb")


@value
def test_a_process_alone_needs_nobody(train, program):
    """Without ranks, address or folder a program trains by itself, and saves nothing."""
    gang = train(program, PROGRAMS[program], world=1, WORLD_SIZE="", MASTER_ADDR="", MASTER_PORT="", CHECKPOINT_DIR="")
    assert gang.ended() == [0], gang.errors()
    assert len(gang.losses()) == STEPS
    assert not train.folder.exists()

"""A rendered job that saves to local disks goes on from its volume when a pod is killed."""

from __future__ import annotations

import json
from pathlib import Path

from make import CPU_NODE, make_cluster, make_resolved
from trainyard.faces.local import work_of
from trainyard.faces.local.session import Session

PROGRAM = """
import os, pathlib, sys, time
folder, rank = pathlib.Path(os.environ["CHECKPOINT_DIR"]), os.environ["JOB_COMPLETION_INDEX"]
steps = [int(path.name[5:]) for path in folder.glob("step-*") if (path / "complete").exists()]
begin = max(steps, default=0)
state = (folder / f"step-{begin}" / f"rank-{rank}").read_text() if begin else ""
print(f"resumed at step={begin} with {state!r}", flush=True)
assert state == f"{rank}:{begin}" * bool(begin)
for step in range(begin + 1, 31):
    time.sleep(0.15)
    print(f"step={step}", flush=True)
    if step % 5 == 0:
        new = folder / f"step-{step}"
        new.mkdir()
        (new / f"rank-{rank}").write_text(f"{rank}:{step}")
        time.sleep(0.3)
        if rank == "0":
            (new / "complete").touch()
"""


def test_a_killed_rank_goes_on_from_what_was_stored(tmp_path):
    """All pods begin anew on empty disks, agree on one step above 0, and the last checkpoint is on the volume."""
    (tmp_path / "train.py").write_text(PROGRAM)
    pools = {
        "gpu": {"shape": "dgx-h100", "nodes": 4},
        "cpu": {"shape": CPU_NODE, "nodes": 4, "localDisks": {"size": "1Ti"}},
    }
    run = make_resolved(
        cluster=make_cluster(pools=pools),
        launcher="exec",
        program=None,
        command=["python3", "train.py"],
        pool="cpu",
        gpusPerNode=0,
        checkpoint={"volume": "checkpoints", "size": "1Mi", "keep": 2, "flush": {"marker": "complete"}},
    )
    objects = [json.loads(json.dumps(resource.value())) for resource in run.kind.build(run)]
    for value in objects:
        value.setdefault("metadata", {}).setdefault("namespace", "nlp")
    (work,) = work_of(objects)
    said: list[str] = []
    session = Session(
        work,
        lambda pod, text: said.append(text),
        state=tmp_path / "state",
        workdir=tmp_path,
        paths={},
        plain=True,
        grace=30,
        kill=["worker-1@17"],
    )
    assert session.run(), said
    begun = [line for line in said if line.startswith("resumed at step=")]
    assert len(begun) == 4, said
    again = begun[2:]
    steps = {line.split("=")[1].split()[0] for line in again}
    assert len(steps) == 1, begun
    assert int(steps.pop()) in {5, 10, 15}, begun
    stored = [json.loads(path.read_text()) for path in Path(tmp_path).rglob(".flushed")]
    assert sorted(one["step"] for one in stored)[-1] == 30, said

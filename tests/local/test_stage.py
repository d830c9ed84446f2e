"""A rendered job that stages its data reads the copy, and what it was copied from is not in its container."""

from __future__ import annotations

import json

from make import CPU_NODE, make_cluster, make_resolved, make_team
from trainyard.faces.local import work_of
from trainyard.faces.local.session import Session

PROGRAM = """
import pathlib
data = pathlib.Path("/data")
print("read", sorted(path.name for path in data.iterdir()), len((data / "b.bin").read_bytes()), flush=True)
print("source", pathlib.Path("/stage-from/data-0").exists(), flush=True)
"""


def test_a_rendered_job_reads_what_was_staged(tmp_path):
    """Each pod copies the folder of the volume first, and the program finds all of it at the same path."""
    (tmp_path / "train.py").write_text(PROGRAM)
    source = tmp_path / "state/claims/nlp/images/train"
    source.mkdir(parents=True)
    (source / "a.txt").write_text("a")
    (source / "b.bin").write_bytes(b"b" * 70_000)
    pools = {
        "gpu": {"shape": "dgx-h100", "nodes": 4},
        "cpu": {"shape": CPU_NODE, "nodes": 4, "localDisks": {"size": "1Ti"}},
    }
    run = make_resolved(
        cluster=make_cluster(pools=pools),
        team=make_team(volumes={"images": {"storage": "shared", "size": "1Ti"}}),
        launcher="exec",
        program=None,
        command=["python3", "train.py"],
        pool="cpu",
        gpusPerNode=0,
        data=[{"volume": "images", "subPath": "train", "mountPath": "/data", "stage": {"size": "1Gi"}}],
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
        plain=False,
        grace=30,
        kill=[],
    )
    assert session.run(), said
    assert sum(line.startswith("stage: staged data-0 files=2 ") for line in said) == 2, said
    assert said.count("read ['a.txt', 'b.bin'] 70000") == 2, said
    assert said.count("source False") == 2, said

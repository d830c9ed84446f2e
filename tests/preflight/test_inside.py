"""Mounts inside of mounts, and files that arguments name, are told where nothing of the name can be there."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, JOB, TEAM, write_repository
from trainyard.judge.preflight import check_repository

VOLUMES = {"checkpoints": {"storage": "shared", "size": "20Ti"}, "corpus": {"storage": "shared", "size": "20Ti"}}
SAVES = {"volume": "checkpoints", "mountPath": "/work", "size": "8Gi"}

CASES: dict[str, tuple[dict[str, Any], list[tuple[str, str | None]]]] = {
    "beside each other": ({"data": [{"volume": "corpus", "mountPath": "/data"}], "checkpoint": SAVES}, []),
    "a name that begins as the other's": (
        {"data": [{"volume": "corpus", "mountPath": "/works"}], "checkpoint": SAVES},
        [],
    ),
    "in what the job writes to": (
        {
            "data": [
                {"volume": "corpus", "mountPath": "/data", "readOnly": False},
                {"volume": "checkpoints", "mountPath": "/data/old"},
            ]
        },
        [],
    ),
    "in what is read-only": (
        {"data": [{"volume": "corpus", "mountPath": "/data"}, {"volume": "checkpoints", "mountPath": "/data/a/b"}]},
        [("spec/mount-inside", "data[1].mountPath")],
    ),
    "in the checkpoints": (
        {"data": [{"volume": "corpus", "mountPath": "/work/data"}], "checkpoint": SAVES},
        [("spec/mount-inside", "data[0].mountPath")],
    ),
}


@pytest.mark.parametrize(("fields", "expected"), CASES.values(), ids=CASES)
def test_mounts_inside_of_mounts(tmp_path, fields, expected):
    """A writable volume gets the folder, and keeps it."""
    team = {**TEAM, "volumes": {**TEAM.get("volumes", {}), **VOLUMES}}
    root = write_repository(
        tmp_path, jobs={"nlp/train": {**JOB, **fields}}, teams={"nlp": team}, clusters={"test": CLUSTER}
    )
    assert [(finding.rule, finding.path) for finding in check_repository(root).findings] == expected


WORDS: dict[str, tuple[dict[str, Any], list[tuple[str, str | None]]]] = {
    "a file that is there": ({"args": ["--config", "/etc/llm/config.yaml"]}, []),
    "one behind an option": ({"args": ["--config=/etc/llm/config.yaml"]}, []),
    "the folder": ({"args": ["/etc/llm", "/etc/llm/"]}, []),
    "what a shell would find": ({"args": ["/etc/llm/*.yaml"]}, []),
    "a folder of the image": ({"args": ["/etc/ssl/confg.yaml"]}, []),
    "a slip in the folder": ({"args": ["/etc/llms/confg.yaml"]}, [("run/unmounted", "args[0]")]),
    "a slip": ({"args": ["--config", "/etc/llm/confg.yaml"]}, [("run/no-file", "args[1]")]),
    "a slip behind an option": ({"args": ["--config=/etc/llm/confg.yaml"]}, [("run/no-file", "args[0]")]),
}


@pytest.mark.parametrize(("fields", "expected"), WORDS.values(), ids=WORDS)
def test_files_that_arguments_name(tmp_path, fields, expected):
    """A folder of files has those of the job, and nobody can add one."""
    files = [{"source": "train/config.yaml", "mountPath": "/etc/llm"}]
    jobs, clusters = {"nlp/train": {**JOB, **fields, "files": files}}, {"test": CLUSTER}
    root = write_repository(tmp_path, jobs=jobs, teams={"nlp": TEAM}, clusters=clusters)
    (root / "jobs/nlp/train").mkdir()
    (root / "jobs/nlp/train/config.yaml").write_text("layers: 32\n")
    assert [(finding.rule, finding.path) for finding in check_repository(root).findings] == expected

"""Job files damaged at random: always findings or specs, never a traceback, never a write."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import make
from trainyard.base.documents import dump
from trainyard.base.findings import Finding
from trainyard.judge.preflight import check_repository

FULL = dump(
    make.fields(
        make.JOB,
        {
            "launcher": "tensorflow",
            "args": ["--config", "/etc/llm/config.yaml", 3],
            "files": [{"source": "config.txt", "mountPath": "/etc/llm"}],
            "topology": {"required": "rack"},
            "env": {"HF_HOME": "/scratch"},
            "secrets": {"TOKEN": "tokens/a"},
            "checkpoint": {"volume": "checkpoints", "size": "10Gi", "keep": 2},
            "scratch": "1Gi",
            "max_hours": 2.5,
            "roles": {"ps": {"nodes": 1, "cpusPerNode": 2, "pool": "cpu"}},
            "containers": [{"name": "side", "image": make.IMAGE, "resources": {"limits": {"cpu": "100m"}}}],
            "patches": [{"object": "Job", "merge": {"spec": {"suspend": None}}, "reason": "a test"}],
            "labels": {"team": "nlp"},
        },
    )
)

VALUES = (
    "null", "~", "", "[]", "{}", "[[]]", "{a: {b: [c]}}", "-1", "0", "1e400", ".nan", "0x10", "1_000", "true", "yes",
    "'", '"', "*a", "&a x", "!!binary abc", "!x y", "2026-01-01", "../x", "/", "a" * 300, "\u202e", "{", "]", "- x",
    "99999999999999999999", "0.1", "16Gi", "<<: *x", "|\n  x", ">", "%", "@", "`", "? x", "\x00", "\ud7ff", "é",
)  # fmt: skip


def damaged(text: str, chance: random.Random) -> bytes:
    """Return the text with one to four random wounds."""
    for _ in range(chance.randint(1, 4)):
        text = chance.choice(WOUNDS)(text, chance)
    data = text.encode("utf-8", "surrogatepass")
    if chance.random() < 0.1 and data:
        at = chance.randrange(len(data))
        data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
    return data


def lines_of(text: str) -> list[str]:
    """Split into lines; at least one."""
    return text.split("\n") or [""]


def without_line(text: str, chance: random.Random) -> str:
    """Drop a line."""
    lines = lines_of(text)
    del lines[chance.randrange(len(lines))]
    return "\n".join(lines)


def doubled_line(text: str, chance: random.Random) -> str:
    """Write a line a second time, elsewhere."""
    lines = lines_of(text)
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
    return "\n".join(lines)


def shifted_line(text: str, chance: random.Random) -> str:
    """Change a line's indentation."""
    lines = lines_of(text)
    at = chance.randrange(len(lines))
    lines[at] = chance.choice(("  ", "\t", "    ", "- ", "")) + lines[at].lstrip(" ")
    return "\n".join(lines)


def other_value(text: str, chance: random.Random) -> str:
    """Put something else after a colon."""
    lines = lines_of(text)
    at = chance.randrange(len(lines))
    lines[at] = lines[at].partition(":")[0] + ": " + chance.choice(VALUES)
    return "\n".join(lines)


def other_key(text: str, chance: random.Random) -> str:
    """Put something else before a colon."""
    lines = lines_of(text)
    at = chance.randrange(len(lines))
    lines[at] = chance.choice(VALUES) + ":" + lines[at].partition(":")[2]
    return "\n".join(lines)


def other_character(text: str, chance: random.Random) -> str:
    """Replace, drop or add a character."""
    at = chance.randrange(len(text) + 1)
    return (
        text[:at] + chance.choice(("", ":", "{", "}", "[", "]", ",", "#", "&", "*", "\r", "\x07", "ÿ")) + text[at + 1 :]
    )


def cut(text: str, chance: random.Random) -> str:
    """End the file early."""
    return text[: chance.randrange(len(text) + 1)]


WOUNDS: tuple[Callable[[str, random.Random], str], ...] = (
    without_line, doubled_line, shifted_line, other_value, other_value, other_key, other_character, cut,
)  # fmt: skip


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return every file with its time of change and its bytes."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file())
    return {str(path.relative_to(root)): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def readable(finding: Finding) -> bool:
    """Whether a finding has a place and one line of words that a terminal can show."""
    message = finding.message
    str(finding.location).encode()
    message.encode()
    return bool(finding.location.line) and bool(message) and "\n" not in message and len(message) < 400


CLUSTER = {
    **make.CLUSTER,
    "fabric": {"type": "roce", "attach": "none", "addresses": "10.9.0.0/16", "pools": ["gpu"]},
    "cidrs": {"pods": "10.0.0.0/14", "services": "10.4.0.0/16"},
    "cohorts": {"all": {"nominalQuota": {"gpu": {"gpus": 0}}}},
}

FILES = {
    "jobs": ("jobs/nlp/train.yaml", FULL, range(3)),
    "clusters": ("platform/clusters/test.yaml", dump(CLUSTER), range(3, 4)),
    "teams": ("platform/teams/nlp.yaml", dump(make.TEAM), range(4, 5)),
    "settings": ("platform/repository.yaml", dump(make.REPOSITORY), range(5, 6)),
}


@pytest.mark.slow
@pytest.mark.parametrize(("file", "text", "seeds"), FILES.values(), ids=FILES)
def test_damaged_specs_end_in_findings(file, text, seeds, tmp_path):
    """Hundreds of damaged files a seed: no exception, no write, and no silence about specs that are withheld."""
    root = make.write_repository(tmp_path)
    (root / "jobs/nlp/config.txt").write_text("layers: 32\n", encoding="utf-8")
    (root / "jobs/nlp/train.yaml").write_text(FULL, encoding="utf-8")
    path = root / file
    path.write_text(text, encoding="utf-8")
    assert not check_repository(root).refused
    for seed in seeds:
        chance = random.Random(seed)
        for _ in range(150):
            path.write_bytes(damaged(text, chance))
            before = snapshot(root)
            checked = check_repository(root)
            assert snapshot(root) == before
            assert checked.refused or (len(checked.runs) == len(checked.specs.jobs) == 1)
            assert all(readable(finding) for finding in checked.findings), checked.findings

"""What a Secret holds is shown by no report, however the Secret is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import call
from trainyard.faces.report import FORMATS

HEAD = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\n"

WRONG = {
    "a value with a tag that lies": "data:\n  a: !!int hunter2\n",
    "no base64 behind its tag": "data:\n  a: !!binary hunter2!\n",
    "an alias without an anchor": "data:\n  a: *hunter2\n",
    "text behind a separator": "data: {}\n--- hunter2\n",
    "a line of a directive": "data: {}\n%hunter2\n",
    "a number that is none": "data:\n  a: !!float hunter2\n",
    "a value twice": "stringData:\n  a: hunter2\n  a: hunter2\n",
    "a value of another type": "data:\n  a: [hunter2]\n",
    "a map for a value": "stringData:\n  a: {b: hunter2}\n",
    "no base64": "data:\n  a: hunter2\n",
    "a value where the map should be": "data: hunter2\n",
    "a quote that is open": "data:\n  a: 'hunter2\n",
    "a bracket that is open": "data:\n  a: [hunter2\n",
    "an escape that is none": 'data:\n  a: "hunter2\\q"\n',
    "a tab": "data:\n\ta: hunter2\n",
    "a number too large": "data:\n  a: 1e99999\n  b: hunter2\n",
    "a colon inside": "data:\n  a: hunter2: x\n",
    "a list in place of the map": "data:\n  - hunter2\n",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_no_report_shows_it(text: str, tmp_path: Path) -> None:
    """In none of the formats, with and without the file before."""
    (tmp_path / "s.yaml").write_text(HEAD + text)
    (tmp_path / "old.yaml").write_text(f"{HEAD}stringData: {{a: hunter2old}}\n")
    for arguments in (*(("--format", format_) for format_ in FORMATS), ("--old", "old.yaml")):
        done = call(tmp_path, "validate", "s.yaml", *arguments)
        assert "hunter2" not in done.stdout + done.stderr, (arguments, done.stdout)

"""`init` writes a skeleton into an empty folder, or nothing."""

from __future__ import annotations

import pytest

from trainyard.cli import main


def test_a_file_is_no_folder(tmp_path, capsys):
    """The sentence names what stands there, not what could not be written below it."""
    there = tmp_path / "notes"
    there.write_text("mine")
    with pytest.raises(SystemExit) as stopped:
        main(["init", str(there)])
    assert (stopped.value.code, capsys.readouterr().err) == (
        2,
        f"trainyard: {there} is a file; choose an empty folder\n",
    )
    assert there.read_text() == "mine"

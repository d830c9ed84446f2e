"""Plain words of the command line are read without pydantic, and mean what typer makes of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

from trainyard.faces.cli._values import take_words

LINES: dict[str, list[str]] = {
    "nothing is given": [],
    "words": ["one", "two", "--name", "x", "--folder", "a/b", "--many", "y", "--many", "z"],
    "a number": ["--count", "3"],
    "a switch": ["--loud"],
}
CHECK = """
import sys
from trainyard.faces.cli import main
try:
    main(["validate", sys.argv[1]])
except SystemExit:
    print("pydantic" in sys.modules)
"""


def command() -> tuple[Any, list[dict[str, Any]]]:
    """Return a command with options of several types, and the list that takes what it is called with."""
    app, seen = typer.Typer(add_completion=False), list[dict[str, Any]]()

    @app.command()
    def one(
        words: Annotated[list[str] | None, typer.Argument()] = None,
        name: Annotated[str | None, typer.Option()] = None,
        folder: Annotated[Path, typer.Option()] = Path("here"),
        many: Annotated[list[str] | None, typer.Option()] = None,
        count: Annotated[int, typer.Option()] = 1,
        loud: Annotated[bool, typer.Option("--loud")] = False,
    ) -> None:
        seen.append({"words": words, "name": name, "folder": folder, "many": many, "count": count, "loud": loud})

    return typer.main.get_command(app), seen


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_words_mean_what_typer_makes_of_them(line: list[str]) -> None:
    """A command is called with the same values, types too, whoever reads them."""
    (plain, first), (quick, second) = command(), command()
    take_words(quick)
    plain.main(args=line, standalone_mode=False)
    quick.main(args=line, standalone_mode=False)
    assert first == second
    assert [{name: type(value) for name, value in call.items()} for call in first] == [
        {name: type(value) for name, value in call.items()} for call in second
    ]


def test_a_value_of_another_type_is_refused_as_before() -> None:
    """Numbers are still read by typer."""
    quick, _ = command()
    take_words(quick)
    with pytest.raises(Exception, match="valid integer"):
        quick.main(args=["--count", "many"], standalone_mode=False)


def test_a_manifest_that_was_judged_is_reported_without_pydantic(tmp_path: Path) -> None:
    """Models of specs, and what reads them, have no part in a file that is no spec."""
    path = tmp_path / "map.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n")
    calls = [
        subprocess.run([sys.executable, "-c", CHECK, path], cwd=tmp_path, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert calls[1].stdout.endswith("False\n")

"""What stops an update: the step that failed, and why."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

LINES = 12
"""Lines of a program's words that are repeated."""


class StepError(Exception):
    """A step of an update that could not be finished."""

    def __init__(self, step: str, why: str) -> None:
        super().__init__(f"{step} failed: {why}")


@contextmanager
def step(name: str) -> Iterator[None]:
    """Name the step in whatever goes wrong within it."""
    try:
        yield
    except StepError:
        raise
    except subprocess.CalledProcessError as error:
        said = "\n".join(f"{error.stdout or ''}{error.stderr or ''}".strip().splitlines()[-LINES:])
        raise StepError(name, said or f"exit code {error.returncode}") from error
    except (Exception, SystemExit) as error:
        raise StepError(name, f"{error}" or type(error).__name__) from error


def run(command: Sequence[str | Path], folder: Path, *, env: dict[str, str] | None = None, text: str = "") -> str:
    """Run a program in a folder and return what it prints; raises CalledProcessError where it fails."""
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, env=env, input=text, capture_output=True, text=True, check=True
    )
    return done.stdout

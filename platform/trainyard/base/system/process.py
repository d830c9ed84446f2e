"""Other programs: run one, give it input, take its output; a missing program is a sentence, not a traceback."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainyard.base.errors import ToolError


@dataclass(frozen=True, slots=True)
class Completed:
    """What a program left behind."""

    code: int
    out: bytes
    err: bytes

    @property
    def complaint(self) -> str:
        """The last line that the program wrote to standard error."""
        lines = self.err.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip() if lines else f"exit code {self.code}"


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    timeout_seconds: float | None = None,
) -> Completed:
    """Run a program to its end, whatever its exit code; `env` replaces the environment where given.

    Raises ToolError where the program is missing, cannot be started, or is not done in time.
    """
    try:
        done = subprocess.run(  # noqa: S603 - an argument list without a shell
            list(command), cwd=cwd, input=stdin, capture_output=True, env=env, timeout=timeout_seconds, check=False
        )
    except FileNotFoundError as error:
        if not cwd.is_dir():
            raise ToolError(f"folder {cwd} does not exist") from error
        raise ToolError(f"{command[0]} is not installed or not on the PATH") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{command[0]} did not finish within {timeout_seconds:g} seconds") from error
    except NotADirectoryError as error:
        raise ToolError(f"{cwd} is not a folder; name the folder of the repository") from error
    except OSError as error:
        raise ToolError(f"{command[0]} cannot be started: {error.strerror}") from error
    return Completed(done.returncode, done.stdout, done.stderr)


def environment(*, drop: Sequence[str] = (), **values: str) -> dict[str, str]:
    """Return this process's environment without some variables and with others set."""
    kept = {key: value for key, value in os.environ.items() if key not in drop}
    return {**kept, **values}

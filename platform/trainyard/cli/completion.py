"""Print what makes a shell complete commands, options and jobs."""

from __future__ import annotations

import typer

from trainyard.cli import COMPLETE

SHELLS = ("bash", "zsh", "fish")


def shells(incomplete: str) -> list[str]:
    """Return the shells that begin like a word."""
    return [name for name in SHELLS if name.startswith(incomplete)]


def command(shell: str = typer.Argument(metavar="|".join(SHELLS), autocompletion=shells, help="The shell.")) -> int:
    """Print a shell's completion script; source it, or write it where the shell looks for such scripts."""
    from typer._completion_shared import get_completion_script

    from trainyard.errors import TrainyardError
    from trainyard.findings import did_you_mean

    if shell not in SHELLS:
        raise TrainyardError(f"shell {shell!r} is not known; {did_you_mean(shell, SHELLS)}")
    print(get_completion_script(prog_name="trainyard", complete_var=COMPLETE, shell=shell))
    return 0

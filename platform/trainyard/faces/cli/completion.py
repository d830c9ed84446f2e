"""Print a script with which a shell completes commands, options and jobs."""

from __future__ import annotations

import typer

from trainyard.faces.cli import COMPLETE

EXAMPLES = (
    'eval "$(trainyard completion bash)"',
    "trainyard completion zsh > ~/.zfunc/_trainyard",
    "trainyard completion fish > ~/.config/fish/completions/trainyard.fish",
)

SHELLS = ("bash", "zsh", "fish")


def shells(incomplete: str) -> list[str]:
    """Return the shells that begin like a word."""
    return [name for name in SHELLS if name.startswith(incomplete)]


def command(shell: str = typer.Argument(metavar="|".join(SHELLS), autocompletion=shells, help="The shell.")) -> int:
    """Print the completion script of a shell; source it, or save it in the shell's folder for completions."""
    from typer._completion_shared import get_completion_script

    from trainyard.base.errors import TrainyardError
    from trainyard.base.findings import did_you_mean

    if shell not in SHELLS:
        raise TrainyardError(f"shell {shell!r} is not supported; {did_you_mean(shell, SHELLS)}")
    print(get_completion_script(prog_name="trainyard", complete_var=COMPLETE, shell=shell))
    return 0

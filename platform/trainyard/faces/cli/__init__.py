"""The command line: one module a command, imported only when it is called, so that every command starts fast."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Sequence
from contextvars import copy_context
from pathlib import Path
from types import ModuleType
from typing import Any

import typer

from trainyard.base.errors import TrainyardError
from trainyard.base.system import memory, scratch
from trainyard.faces.cli._help import CODES, epilog, examples_of
from trainyard.faces.cli._readers import await_none, open_closed
from trainyard.faces.cli._values import take_words

COMPLETE = "_TRAINYARD_COMPLETE"
"""The variable by which a shell asks for words; see `completion`."""

CLEAN, FINDINGS, UNFINISHED = 0, 1, 2
"""Exit codes."""

LARGE = frozenset({"admit", "check", "plan", "synth", "validate"})
"""Commands that keep most of what they make: looking for circular garbage takes a fifth, and frees little."""

USAGE_ERROR: type[Exception] = next(item for item in typer.BadParameter.__mro__ if item.__name__ == "ClickException")
"""What every wrong use of the command line derives from; typer carries click inside and does not export it."""


def commands() -> list[str]:
    """Return the commands' names: the modules of this folder."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def build(names: Sequence[str]) -> typer.Typer:
    """Return the application with these commands; a module has `command`, or `app` where it has sub-commands."""
    app = typer.Typer(
        name="trainyard",
        help="From cluster and job descriptions to checked Kubernetes YAML.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        epilog=CODES,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options)
    for name in names:
        module = importlib.import_module(f"{__name__}.{name}")
        group: typer.Typer | None = getattr(module, "app", None)
        short = sentence(module)
        if group is not None:
            for command in group.registered_commands:
                command.short_help = (getattr(command.callback, "__doc__", None) or "").partition("\n")[0]
                command.epilog = epilog(examples_of(module, command.name or ""))
            app.add_typer(group, name=name, help=module.__doc__, short_help=short)
        else:
            app.command(name, short_help=short, epilog=epilog(examples_of(module)))(module.command)
    return app


def sentence(module: ModuleType) -> str:
    """Return the first line of what a module says of itself, whole, for the list of commands."""
    return (module.__doc__ or "").strip().partition("\n")[0]


def show_version(value: bool) -> None:
    """Print the version and end."""
    if value:
        from trainyard import __version__

        print(__version__)
        raise typer.Exit


def options(
    version: bool = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Print the version."),
) -> None:
    """From cluster and job descriptions to checked Kubernetes YAML."""


def guarded(function: Callable[[], Any]) -> int:
    """Call the command and turn what stops it into a sentence on standard error and an exit code."""
    try:
        result = function()
    except TrainyardError as error:
        complain(str(error))
        return UNFINISHED
    except typer.Exit as error:
        return error.exit_code
    except USAGE_ERROR as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error)
            return CLEAN
        complain(words(error))
        return UNFINISHED
    except (KeyboardInterrupt, typer.Abort):
        complain("interrupted")
        return UNFINISHED
    except Exception as error:  # noqa: BLE001 - whatever it is, the exit code of findings would be untrue
        from trainyard.faces.cli._stopped import explained, lack

        if isinstance(error, OSError) and not lack(error):
            complain(f"{error.filename or 'system'}: {error.strerror or error}")
        else:
            complain(explained(error))
        return UNFINISHED
    return result if isinstance(result, int) else CLEAN


def complain(message: str) -> None:
    """Say on standard error what stops a command; names of files and fields in it steer no terminal."""
    from trainyard.faces.cli._out import page

    page(f"trainyard: {message}", error=True)


WANTED = {"int_parsing": "a whole number", "float_parsing": "a number"}
"""What an option should be, by the error of pydantic, by which typer reads options."""


EXTRA = re.compile(r"Got unexpected extra argument\S* \(([^ )]+)")
"""How the parser refuses words that no argument takes."""


def words(error: Exception) -> str:
    """Return an error of the command-line parser in our form: lower case, no full stop."""
    option = next(iter(getattr(getattr(error, "param", None), "opts", ())), "")
    details: list[dict[str, Any]] = getattr(error.__cause__, "errors", list)()
    for detail in details if option else ():
        if wanted := WANTED.get(detail["type"]):
            return f"{option} is {detail['input']!r}, but must be {wanted}"
        if detail["type"] == "greater_than_equal":
            return f"{option} is {detail['input']}, but must be {detail['ctx']['ge']} or more"
    message: str = getattr(error, "format_message", error.__str__)()
    if extra := EXTRA.match(message):
        context: Any = getattr(error, "ctx", None)
        return f"argument {extra[1]!r} is one too many; see `{context.command_path} --help`"
    message = message.removeprefix("Invalid value: ").replace(". Did ", "; did ").replace("(Possible ", "(possible ")
    return (message[:1].lower() + message[1:]).rstrip(".") + hint(error)


def hint(error: Exception) -> str:
    """Return where options and commands are found, of a word that stands where a command does."""
    context: Any = getattr(error, "ctx", None)
    if type(error).__name__ == "NoSuchOption" and context.command_path == "trainyard":
        return "; options stand behind the command, as in `trainyard admit --format json`"
    if type(error).__name__ == "MissingParameter" and (shown := example(context)):
        return f", as in: {shown}"
    is_unlike_any = "No such command" in str(error) and "Did you mean" not in str(error)
    return f"; `{context.command_path} --help` lists them" if is_unlike_any else ""


def example(context: Any) -> str:
    """Return the first example of a command's help; empty where it has none."""
    lines: list[str] = (getattr(getattr(context, "command", None), "epilog", None) or "").splitlines()
    return next((line.strip() for line in lines if line.startswith(f"  {context.command_path}")), "")


def hold(arguments: Sequence[str]) -> None:
    """Let of a checkout only count what was accepted, and say what a pipeline demands, from the first look at it on."""
    from trainyard.base.system.trust import DECIDE, DEFAULT, REVIEWED, TRUST, Checkout, Reviewed

    ref = last_value("--base", arguments) or os.environ.get("TRAINYARD_BASE")
    automated = os.environ.get("CI", "").lower() in {"1", "true"}
    REVIEWED.set(Reviewed(os.environ.get(DEFAULT, ""), demanded=automated))
    known: dict[Path, Checkout | None] = {}

    def decide(root: Path) -> Checkout | None:
        from trainyard.render.tree.trust import decide as decided

        if root not in known:
            known[root] = decided(root, ref=ref, automated=automated, said=os.environ.get(TRUST, ""))
        return known[root]

    DECIDE.set(decide)


def last_value(option: str, arguments: Sequence[str]) -> str | None:
    """Return the last value of an option, as the command's own parser reads it."""
    found = None
    words = iter(arguments)
    for word in words:
        if word == "--":
            break
        if word == option:
            found = next(words, None)
        elif word.startswith(f"{option}="):
            found = word.removeprefix(f"{option}=")
    return found


def absolute(path: str) -> str:
    """Return a PATH without folders that are meant from where somebody stands: that may be anybody's checkout."""
    return os.pathsep.join(part for part in path.split(os.pathsep) if os.path.isabs(part)) or os.defpath  # noqa: PTH117 - no file


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code: 0 clean, 1 findings, 2 could not finish."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    memory.look_seldom()
    open_closed()
    await_none()
    if os.environ.get(COMPLETE):
        from typer._completion_classes import completion_init

        completion_init()
    os.environ["PATH"] = absolute(os.environ.get("PATH", os.defpath))
    known = commands()
    chosen = next((word for word in given if not word.startswith("-")), None)
    app = typer.main.get_command(build([chosen] if chosen in known else known))
    take_words(app)
    atexit.register(gc.freeze)  # the last collection would look at everything and free nothing that the end does not
    context = copy_context()
    context.run(hold, given)
    if chosen in LARGE:
        gc.disable()  # to the end: a search that begins when the work is done would look at everything
    code = context.run(guarded, lambda: app.main(args=given, prog_name="trainyard", standalone_mode=False))
    scratch.sweep()
    sys.exit(code)

"""Check jobs, clusters, teams and manifests, and report every problem."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from trainyard.faces.cli._findings import print_output, report, view_of
from trainyard.faces.cli._ignores import BASELINE, IGNORE, VERBOSE, WRITE_BASELINE, ignore
from trainyard.faces.cli._options import BASE, FORMAT, QUIET, ROOT, SUMMARY, TRUST_CHECKOUT, UNSAFE_PYTHON

if TYPE_CHECKING:
    from trainyard.faces.cli._paths import Named
    from trainyard.judge.checks.result import Result

EXAMPLES = (
    "trainyard check",
    "trainyard check jobs/nlp/llama3-8b.yaml",
    "trainyard check jobs/nlp --fix --diff",
    "trainyard check --format github",
)

ROUNDS = 4
"""So often mending may bring to light what can be mended too."""


def command(
    files: list[str] | None = typer.Argument(
        None,
        metavar="FILE...",
        help="Specs, manifests, folders of them, or - for standard input; default: the whole repository.",
    ),
    base: str = typer.Option(None, envvar="TRAINYARD_BASE", metavar="REF", help=BASE),
    fix: bool = typer.Option(False, "--fix", help="Fix simple mistakes: misspelt fields, quotes, file endings."),
    diff: bool = typer.Option(False, "--diff", help="Show what --fix changes; without --fix, write nothing."),
    strict: bool = typer.Option(False, "--strict", help="Fail on warnings too."),
    ignored: list[str] | None = IGNORE,
    baseline: Path | None = BASELINE,
    write_baseline: Path | None = WRITE_BASELINE,
    verbose: bool = VERBOSE,
    format_: str = FORMAT,
    quiet: bool = QUIET,
    summary: bool = SUMMARY,
    trust_checkout: bool = TRUST_CHECKOUT,  # noqa: ARG001
    unsafe_python: bool = UNSAFE_PYTHON,  # noqa: ARG001 - its callback does it
    root: Path = ROOT,
) -> int:
    """Check files or the whole repository: everything that synth and validate would report.

    A file may be a job, a cluster, a team, a policy or a manifest. Its repository is the folder above it that has
    platform/clusters. Only --fix writes files.
    """
    from trainyard.base.system.files import require_file
    from trainyard.faces.cli import _paths
    from trainyard.faces.report import require

    require(format_)
    if fix:
        for file in files or ():
            require_file(file, "--fix")
    named = _paths.sort(files) if files else _paths.Named({root.resolve(): [""]})
    result = checked(named, base, quiet=quiet)
    shown = (sys.stdout if format_ == "text" else sys.stderr) if diff else None  # a program reads the report alone
    for _ in range(ROUNDS if fix or diff else 0):
        if not mend(result, write=fix, shown=shown) or not fix:
            break
        files = [item for item in map(there, files or ()) if item]
        result = checked(_paths.sort(files) if files else named, base, quiet=quiet)
    ignore(result, root, rules=ignored, baseline=baseline, write_baseline=write_baseline)
    count = len(files or ())
    view = view_of("check", Path(), quiet=quiet, summary=summary, strict=strict, verbose=verbose, files=count)
    report(result, format_, view)
    return result.exit_code(strict=strict)


def there(file: str) -> str | None:
    """Return a file by the name that it has once it is mended."""
    renamed = Path(file).with_suffix(".yaml") if file.endswith(".yml") else Path(file)
    return next((str(path) for path in (Path(file), renamed) if path.exists()), None)


def checked(named: Named, base: str | None, *, quiet: bool) -> Result:
    """Return the findings on files, with paths relative to the current folder."""
    from trainyard import __version__
    from trainyard.change.plan.read.findings import everything
    from trainyard.faces.cli import _paths
    from trainyard.faces.cli._progress import progress
    from trainyard.judge.checks.result import Result

    result = Result()
    automated = os.environ.get("CI", "").lower() in {"1", "true"}
    for root, files in named.repositories.items():
        with progress(quiet=quiet):
            whole, printed = everything(
                root,
                __version__,
                ref=base,
                automated=automated and "" in files,
                about=_paths.alone(files),
            )
        print_output(printed)
        found, elsewhere = (whole, 0) if "" in files else _paths.about(whole, files)
        if elsewhere:
            count = "1 more error" if elsewhere == 1 else f"{elsewhere} more errors"
            found.notes.append(f"{count} in other files; list them with `trainyard check`")
        result.extend(_paths.as_seen(found, root))
    if named.manifests:
        judged = manifests(named.manifests)
        result.extend(judged)
    return result


def manifests(files: list[str]) -> Result:
    """Return the findings on manifests outside of a repository."""
    from trainyard.faces.cli.validate import check_named_files

    return check_named_files(files, Path())


def mend(result: Result, *, write: bool, shown: TextIO | None) -> bool:
    """Mend what takes no thought, show how where somebody looks, and return whether there was anything."""
    from trainyard.faces.cli._mending import mend as mended

    lines = mended(Path(), result.findings, write=write)
    if shown is not None:
        shown.writelines(lines)
    return bool(lines)

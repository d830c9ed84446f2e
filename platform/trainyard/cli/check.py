"""Say everything that is wrong with jobs, clusters, teams and manifests, whatever a file is."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from trainyard.cli._findings import report, told, view_of
from trainyard.cli._options import BASE, FORMAT, QUIET, ROOT, SUMMARY, TRUST_CHECKOUT, UNSAFE_PYTHON

if TYPE_CHECKING:
    from trainyard.checks.result import Result
    from trainyard.cli._named import Named

ROUNDS = 4
"""So often mending may bring to light what can be mended too."""


def command(
    files: list[str] | None = typer.Argument(
        None, metavar="FILE...", help="Specs, manifests or folders of them; without any, the whole repository."
    ),
    base: str = typer.Option(None, envvar="TRAINYARD_BASE", metavar="REF", help=BASE),
    fix: bool = typer.Option(False, "--fix", help="Mend what takes no thought: misspelt fields, quotes, endings."),
    diff: bool = typer.Option(False, "--diff", help="Show what --fix changes; without --fix, nothing is written."),
    strict: bool = typer.Option(False, "--strict", help="Warnings fail too."),
    format_: str = FORMAT,
    quiet: bool = QUIET,
    summary: bool = SUMMARY,
    trust_checkout: bool = TRUST_CHECKOUT,  # noqa: ARG001
    unsafe_python: bool = UNSAFE_PYTHON,  # noqa: ARG001 - its callback does it
    root: Path = ROOT,
) -> int:
    """Say everything that synth and validate would say of files, or of the repository; needs no tool beside itself.

    A file is taken for what it is: a job, a cluster, a team, a policy, a manifest. Its repository is the folder above
    it that has platform/clusters. Nothing is written but by --fix.
    """
    from trainyard.cli import _named
    from trainyard.report import require

    require(format_)
    named = _named.sort(files) if files else _named.Named({root.resolve(): [""]})
    result = checked(named, base)
    shown = (sys.stdout if format_ == "text" else sys.stderr) if diff else None  # a program reads the report alone
    for _ in range(ROUNDS if fix or diff else 0):
        if not mend(result, write=fix, shown=shown) or not fix:
            break
        files = [each for each in map(there, files or ()) if each]
        result = checked(_named.sort(files) if files else named, base)
    view = view_of("check", Path(), quiet=quiet, summary=summary, strict=strict, files=len(files or ()))
    report(result, format_, view)
    return result.exit_code(strict=strict)


def there(file: str) -> str | None:
    """Return a file by the name that it has once it is mended."""
    renamed = Path(file).with_suffix(".yaml") if file.endswith(".yml") else Path(file)
    return next((str(each) for each in (Path(file), renamed) if each.exists()), None)


def checked(named: Named, base: str | None) -> Result:
    """Return what is found of files, with paths as they are seen from here."""
    from trainyard import __version__
    from trainyard.checks.result import Result
    from trainyard.cli import _named
    from trainyard.cli._progress import progress
    from trainyard.plan.read.findings import everything

    result = Result()
    automated = os.environ.get("CI", "").lower() in {"1", "true"}
    for root, files in named.repositories.items():
        with progress("checking") as watch:
            whole, printed = everything(root, __version__, ref=base, automated=automated and "" in files, watch=watch)
        told(printed)
        found, elsewhere = (whole, 0) if "" in files else _named.about(whole, files)
        if elsewhere:
            stands = "1 error stands" if elsewhere == 1 else f"{elsewhere} errors stand"
            found.notes.append(f"{stands} in other files, which `trainyard check` names")
        result.extend(_named.as_seen(found, root))
    if named.manifests:
        judged = manifests(named.manifests)
        result.extend(judged)
    return result


def manifests(files: list[str]) -> Result:
    """Return what is found of manifests of nobody's repository, and of jobs that are none since they lie elsewhere."""
    from trainyard.apiserver.validations.kept import open_for
    from trainyard.cli.validate import broken_policies, named, python_policies
    from trainyard.system.data import schemas_dir

    result = named(
        files,
        schemas_dir(Path()),
        kubernetes=None,
        projects=None,
        allow_unknown=(),
        exclude=(),
        build=False,
        apply=None,
        gates=frozenset(),
        old=None,
        against=None,
        rulebook=open_for(Path()),
        policies=python_policies(Path()),
        watch=lambda _: None,
    )
    result.add(broken_policies(Path()))
    return result


def mend(result: Result, *, write: bool, shown: TextIO | None) -> bool:
    """Mend what takes no thought, show how where somebody looks, and return whether there was anything."""
    from trainyard.cli._mending import mend as mended

    lines = mended(Path(), result.findings, write=write)
    if shown is not None:
        shown.writelines(lines)
    return bool(lines)

"""Judge manifests as the API server with the cluster's operators would."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from trainyard.cli._findings import report, view_of
from trainyard.cli._options import FORMAT, PYTHON, QUIET, ROOT, SUMMARY, TRUST_CHECKOUT, UNSAFE_PYTHON

if TYPE_CHECKING:
    from trainyard.apiserver import Rulebook
    from trainyard.apiserver.judge import Apply
    from trainyard.checks.result import Result
    from trainyard.findings import Finding
    from trainyard.policies.policy import Policy

WAYS = ("client", "server", "create")
"""How objects come to a server."""


def command(
    paths: list[str] | None = typer.Argument(
        None, metavar="PATH...", help="Files, folders or -; without any, generated/ of this repository."
    ),
    format_: str = FORMAT,
    quiet: bool = QUIET,
    summary: bool = SUMMARY,
    kubernetes: str | None = typer.Option(
        None, metavar="RELEASE", help="Kubernetes of the files, as in 1.35; default: the newest known."
    ),
    with_: list[str] | None = typer.Option(
        None,
        "--with",
        metavar="PROJECT=RELEASE",
        help="What is installed beside Kubernetes; repeatable, takes commas. Default: all, the newest known.",
    ),
    allow_unknown: list[str] | None = typer.Option(
        None, metavar="GROUP/KIND", help="A kind that may be unknown, also GROUP/* or *; repeatable."
    ),
    exclude: list[str] | None = typer.Option(
        None, metavar="GLOB", help="Files and folders to leave out, as in .gitignore; repeatable."
    ),
    build: bool = typer.Option(
        False, "--build", help="Judge what helm and kustomize make of charts and kustomizations, too."
    ),
    apply: str | None = typer.Option(
        None,
        metavar="WAY",
        help="How files are applied: client, server or create; default: client, own trees server.",
    ),
    feature_gates: list[str] | None = typer.Option(
        None,
        metavar="NAME=true",
        help="Feature gates that are not as in their release; repeatable, takes commas.",
    ),
    old: list[str] | None = typer.Option(
        None, metavar="PATH", help="Files or folders as they were: judges each change; repeatable."
    ),
    against: str | None = typer.Option(None, metavar="REF", help="The same, as they were at a commit."),
    base: str | None = typer.Option(
        None, envvar="TRAINYARD_BASE", metavar="REF", help="The commit at which runs are frozen."
    ),
    strict: bool = typer.Option(False, "--strict", help="Warnings fail too."),
    cluster: list[str] | None = typer.Option(
        None, metavar="NAME", help="Only this cluster of the repository; repeatable."
    ),
    python: bool = PYTHON,  # noqa: ARG001 - its callback does it
    trust_checkout: bool = TRUST_CHECKOUT,  # noqa: ARG001
    unsafe_python: bool = UNSAFE_PYTHON,  # noqa: ARG001
    root: Path = ROOT,
) -> int:
    """Judge manifests as the API server with the cluster's operators would; changes nothing."""
    from trainyard.apiserver.allowed import Allowed
    from trainyard.apiserver.gates import parse_gates
    from trainyard.apiserver.validations.kept import open_for
    from trainyard.checks.inputs import spelled_out
    from trainyard.checks.versions import parse_kubernetes, parse_projects
    from trainyard.cli._progress import progress
    from trainyard.errors import TrainyardError
    from trainyard.report import require
    from trainyard.system.data import schemas_dir

    if old and against:
        raise TrainyardError("--old and --against both say what was before; give one of them")
    require(format_)
    refuse_unused(
        {
            "--old": old,
            "--kubernetes": kubernetes,
            "--with": with_,
            "--exclude": exclude,
            "--build": build,
            "--apply": apply,
            "--feature-gates": feature_gates,
        },
        {"--cluster": cluster},
        paths=bool(paths),
    )
    allowed, gates = Allowed.of(allow_unknown or ()), parse_gates(feature_gates or ())
    if apply is not None and apply not in WAYS:
        raise TrainyardError(f"--apply {apply!r} should be one of: {', '.join(WAYS)}")
    if paths:
        with progress("judging") as watch:
            result = named(
                spelled_out(paths),
                schemas_dir(root),
                kubernetes=parse_kubernetes(kubernetes),
                projects=parse_projects(with_),
                allow_unknown=allowed.patterns,
                exclude=exclude or (),
                build=build,
                apply=cast("Apply | None", apply),
                gates=gates,
                old=old,
                against=against,
                rulebook=open_for(root),
                policies=python_policies(root),
                watch=watch,
            )
            result.add(broken_policies(root))
    else:
        from trainyard.checks.repository import validate_repository
        from trainyard.system.repository import is_repository

        if not is_repository(root):
            raise TrainyardError(
                "there is no repository here; name files, or judge what is piped: trainyard validate -"
            )

        with progress("judging") as watch:
            result = validate_repository(
                root, clusters=cluster or (), allow_unknown=allowed.patterns, base=base, against=against, watch=watch
            )
    allowed.require_used(each.object for each in result.objects if each.verdict == "unknown")
    report(result, format_, view_of("validate", Path() if paths else root, quiet=quiet, summary=summary, strict=strict))
    return result.exit_code(strict=strict)


def named(
    paths: Sequence[str],
    schemas: Path,
    *,
    kubernetes: str | None,
    projects: Mapping[str, str] | None,
    allow_unknown: Sequence[str],
    exclude: Sequence[str],
    build: bool,
    apply: Apply | None,
    gates: frozenset[str],
    old: Sequence[str] | None,
    against: str | None,
    rulebook: Rulebook,
    policies: Sequence[Policy],
    watch: Callable[[float], None],
) -> Result:
    """Judge what somebody names; files of a generated tree against the releases of their cluster, if none are given."""
    from trainyard.apiserver.catalog.releases import Shelf
    from trainyard.checks import inputs, twice, validate
    from trainyard.checks.build import built
    from trainyard.checks.foreign import sift
    from trainyard.checks.places import by_place
    from trainyard.checks.result import Result
    from trainyard.errors import TrainyardError
    from trainyard.system.ignored import Excluded

    result, excluded = Result(), Excluded(exclude)
    groups = by_place(paths) if kubernetes is None and projects is None else {None: list(paths)}
    if old and len(groups) > 1:
        raise TrainyardError("--old compares with files of one cluster; name paths of one cluster")
    for place, files in groups.items():
        release, installed = place.releases(Shelf(schemas).projects()) if place else (kubernetes, projects)
        collected = inputs.collect(files, result.findings.append, excluded=excluded, passed=result.passed)
        found = sift(collected, named=files)
        if build:
            found = built(found, result)
        result.passed += found.passed
        result.unrendered += found.unrendered
        past = inputs.collect(old, result.findings.append, excluded=excluded) if old else None
        before = sift(past, named=old or ()).files if past else None
        if against:
            from trainyard.checks.past import files_at

            before = sift(files_at(against, files, excluded), named=files).files
        judged = validate.strangers(
            found.files,
            schemas,
            kubernetes=release,
            projects=installed,
            allow_unknown=allow_unknown,
            before=before,
            rulebook=rulebook,
            apply=apply or ("server" if place else "client"),
            gates=gates,
            policies=policies,
            watch=watch,
            where=place.where if place else validate.option,
        )
        twice.weigh(judged, found.resources)
        result.extend(judged)
    result.notes += [f"--exclude {each!r} matches no file" for each in excluded.unused()]
    result.add(inputs.nothing(paths, result.passed) if not result.objects and not result.findings else ())
    return result


def python_policies(root: Path) -> list[Policy]:
    """Return the policies in Python, our own and the repository's; those in CEL count where they are installed."""
    from trainyard.policies.policy import usable

    return usable(modules(root))


def broken_policies(root: Path) -> list[Finding]:
    """Return what is wrong with policies in Python, which find nothing and so must be told of."""
    from trainyard.policies.policy import unusable

    return list(unusable(modules(root)))


def modules(root: Path) -> list[Path]:
    """Return the files of policies in Python."""
    from trainyard.system.data import policy_files

    return [path for path in policy_files(root) if path.suffix == ".py"]


def refuse_unused(files: Mapping[str, object], tree: Mapping[str, object], *, paths: bool) -> None:
    """Refuse options that would be passed over in silence: those that say something of files, or of our own tree."""
    from trainyard.errors import TrainyardError

    for name, given in (tree if paths else files).items():
        if given and paths:
            raise TrainyardError(f"{name} chooses from generated/ of a repository; leave it or the paths out")
        if given:
            raise TrainyardError(f"{name} says something of files, but no path is given; name the files")

"""Check manifests as the API server and the cluster's operators would."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from trainyard.faces.cli._findings import report, view_of
from trainyard.faces.cli._options import FORMAT, PYTHON, QUIET, ROOT, SUMMARY, TRUST_CHECKOUT, UNSAFE_PYTHON

if TYPE_CHECKING:
    from trainyard.base.findings import Finding
    from trainyard.judge.checks.result import Result
    from trainyard.judge.policies.policy import Policy
    from trainyard.upstream.apiserver import Rulebook
    from trainyard.upstream.apiserver.judge import Apply

EXAMPLES = (
    "trainyard validate",
    "trainyard validate deploy/ --with kueue=0.19.2",
    "trainyard validate --format sarif > trainyard.sarif",
    "helm template chart | trainyard validate -",
)

WAYS = ("client", "server", "create")
"""How objects come to a server."""


def command(
    paths: list[str] | None = typer.Argument(
        None, metavar="PATH...", help="Files, folders, or - for standard input; default: generated/ of this repository."
    ),
    format_: str = FORMAT,
    quiet: bool = QUIET,
    summary: bool = SUMMARY,
    kubernetes: str | None = typer.Option(
        None, metavar="RELEASE", help="Kubernetes release of the cluster, as in 1.35; default: the newest known."
    ),
    with_: list[str] | None = typer.Option(
        None,
        "--with",
        metavar="PROJECT=RELEASE",
        help="Operators on the cluster, separated by commas; repeatable. Default: all, in their newest known release.",
    ),
    allow_unknown: list[str] | None = typer.Option(
        None, metavar="GROUP/KIND", help="Accept this unknown kind; GROUP/* and * work too; repeatable."
    ),
    exclude: list[str] | None = typer.Option(
        None, metavar="GLOB", help="Files and folders to skip, in the syntax of .gitignore; repeatable."
    ),
    build: bool = typer.Option(
        False, "--build", help="Also render charts and kustomizations with helm and kustomize, and check the result."
    ),
    apply: str | None = typer.Option(
        None,
        metavar="WAY",
        help="How the files are applied: client, server or create; default: client, or server for generated/.",
    ),
    feature_gates: list[str] | None = typer.Option(
        None,
        metavar="NAME=true",
        help="Feature gates that differ from the defaults of the release, separated by commas; repeatable.",
    ),
    old: list[str] | None = typer.Option(
        None, metavar="PATH", help="Former files or folders; also checks whether each update is allowed; repeatable."
    ),
    against: str | None = typer.Option(
        None, metavar="REF", help="The same, with the former files taken from a commit."
    ),
    base: str | None = typer.Option(
        None, envvar="TRAINYARD_BASE", metavar="REF", help="The commit whose runs are frozen."
    ),
    strict: bool = typer.Option(False, "--strict", help="Fail on warnings too."),
    cluster: list[str] | None = typer.Option(
        None, metavar="NAME", help="Only this cluster of the repository; repeatable."
    ),
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Also list files that are not manifests."),
    python: bool = PYTHON,  # noqa: ARG001 - its callback does it
    trust_checkout: bool = TRUST_CHECKOUT,  # noqa: ARG001
    unsafe_python: bool = UNSAFE_PYTHON,  # noqa: ARG001
    root: Path = ROOT,
) -> int:
    """Check manifests as the API server and the operators of a cluster would; changes nothing."""
    from trainyard.base.errors import TrainyardError
    from trainyard.base.system.data import schemas_dir
    from trainyard.base.system.files import STDIN, require_once
    from trainyard.faces.cli import _streams
    from trainyard.faces.cli._progress import progress
    from trainyard.faces.report import require
    from trainyard.judge.checks.inputs import spelled_out
    from trainyard.judge.checks.kept_rules import open_for
    from trainyard.judge.checks.versions import parse_kubernetes, parse_projects
    from trainyard.upstream.apiserver.allowed import Allowed
    from trainyard.upstream.apiserver.gates import parse_gates

    require_once([*(paths or ()), *(old or ())])
    if against and STDIN in (paths or ()):
        raise TrainyardError("--against reads files of a commit, which standard input has none of; use --old")
    if old and against:
        raise TrainyardError("--old and --against cannot be combined; keep one")
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
        raise TrainyardError(f"--apply {apply!r} must be one of: {', '.join(WAYS)}")
    paths = spelled_out(paths) if paths else []
    streams, files = _streams.split_off(paths) if format_ == _streams.FORMAT else ([], paths)
    if streams and (old or against):
        raise TrainyardError("--old and --against compare all objects, which a stream does not keep; use --format json")
    if paths:
        with progress("judging") as watch:
            result = check_named_files(
                files,
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
        if streams:
            return _streams.judged(
                streams,
                files,
                result,
                schemas_dir(root),
                kubernetes=parse_kubernetes(kubernetes),
                projects=parse_projects(with_),
                allowed=allowed,
                exclude=exclude or (),
                apply=cast("Apply", apply or "client"),
                gates=gates,
                rulebook=open_for(root),
                policies=python_policies(root),
                strict=strict,
            )
    else:
        from trainyard.base.system.repository import is_repository
        from trainyard.judge.checks.repository import validate_repository

        if not is_repository(root):
            raise TrainyardError(
                "this folder is not in a repository; name files, or read standard input: trainyard validate -"
            )

        with progress("judging") as watch:
            result = validate_repository(
                root, clusters=cluster or (), allow_unknown=allowed.patterns, base=base, against=against, watch=watch
            )
    allowed.require_used(obj.object for obj in result.objects if obj.verdict == "unknown")
    shown = view_of("validate", Path() if paths else root, quiet=quiet, summary=summary, strict=strict, verbose=verbose)
    report(result, format_, shown)
    return result.exit_code(strict=strict)


def check_named_files(
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
    from trainyard.base.errors import TrainyardError
    from trainyard.base.system.ignored import Excluded
    from trainyard.judge.checks import inputs, twice, validate
    from trainyard.judge.checks.build import build_sources
    from trainyard.judge.checks.foreign import sift
    from trainyard.judge.checks.places import by_place
    from trainyard.judge.checks.result import Result
    from trainyard.upstream.apiserver.catalog.releases import Shelf

    result, excluded = Result(), Excluded(exclude)
    groups = by_place(paths) if kubernetes is None and projects is None else {None: list(paths)}
    if old and len(groups) > 1:
        raise TrainyardError("--old compares with files of one cluster; name paths of one cluster")
    for place, files in groups.items():
        release, installed = place.releases(Shelf(schemas).projects()) if place else (kubernetes, projects)
        collected = inputs.collect(files, result.findings.append, excluded=excluded, passed=result.passed)
        found = sift(collected, named=files)
        if build:
            found = build_sources(found, result)
        result.passed += found.passed
        result.unrendered += found.unrendered
        result.others += found.others
        past = inputs.collect(old, result.findings.append, excluded=excluded) if old else None
        before = sift(past, named=old or ()).files if past else None
        if against:
            from trainyard.judge.checks.past import files_at

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
    result.notes += inputs.say_others(result.others, spelled=paths)
    result.notes += [f"--exclude {item!r} matches no file" for item in excluded.unused()]
    result.add(
        inputs.report_nothing(paths, result.passed) if paths and not result.objects and not result.findings else ()
    )
    return result


def python_policies(root: Path) -> list[Policy]:
    """Return the policies in Python, our own and the repository's; those in CEL count where they are installed."""
    from trainyard.judge.policies.policy import usable

    return usable(modules(root))


def broken_policies(root: Path) -> list[Finding]:
    """Return the findings on broken policies in Python."""
    from trainyard.judge.policies.policy import unusable

    return list(unusable(modules(root)))


def modules(root: Path) -> list[Path]:
    """Return the files of policies in Python."""
    from trainyard.base.system.data import policy_files

    return [path for path in policy_files(root) if path.suffix == ".py"]


def refuse_unused(files: Mapping[str, object], tree: Mapping[str, object], *, paths: bool) -> None:
    """Refuse options that would be passed over in silence: those that say something of files, or of our own tree."""
    from trainyard.base.errors import TrainyardError

    for name, given in (tree if paths else files).items():
        if given and paths:
            raise TrainyardError(f"{name} works only without paths; remove it or the paths")
        if given:
            raise TrainyardError(f"{name} works only with paths; name the files")

"""Check manifests as the API server and the cluster's operators would."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from trainyard.faces.cli._findings import report, view_of
from trainyard.faces.cli._ignores import BASELINE, IGNORE, VERBOSE, WRITE_BASELINE, ignore
from trainyard.faces.cli._options import FORMAT, PYTHON, QUIET, ROOT, SUMMARY, TRUST_CHECKOUT, UNSAFE_PYTHON

if TYPE_CHECKING:
    from trainyard.judge.checks.result import Result
    from trainyard.upstream.apiserver.gates import Gates
    from trainyard.upstream.apiserver.judge import Apply

EXAMPLES = (
    "trainyard validate",
    "trainyard validate deploy/ --with kueue=0.19.2",
    "trainyard validate --format sarif > trainyard.sarif",
    "helm template chart | trainyard validate -",
)

ONE_CLUSTER = "--old compares with files of one cluster; name paths of one cluster"

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
    ignored: list[str] | None = IGNORE,
    baseline: Path | None = BASELINE,
    write_baseline: Path | None = WRITE_BASELINE,
    verbose: bool = VERBOSE,
    cluster: list[str] | None = typer.Option(
        None, metavar="NAME", help="Only this cluster of the repository; repeatable."
    ),
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
        with progress(quiet=quiet):
            result = check_named_files(
                files,
                root,
                kubernetes=parse_kubernetes(kubernetes),
                projects=parse_projects(with_),
                allow_unknown=allowed.patterns,
                exclude=exclude or (),
                build=build,
                apply=cast("Apply | None", apply),
                gates=gates,
                old=old,
                against=against,
            )
        if streams:
            from trainyard.judge.checks import of_files
            from trainyard.judge.policies.kept_rules import open_for

            if baseline or write_baseline:
                raise TrainyardError("a baseline lists all findings, which a stream does not keep; use --format json")

            ids = cache(lambda: of_files.advice(root))  # a stream has many parts

            def weigh(part: Result) -> None:
                advise(part, root, ids)
                ignore(part, root, rules=ignored, baseline=None, write_baseline=None)

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
                policies=of_files.python_policies(root),
                strict=strict,
                weigh=weigh,
            )
    else:
        from trainyard.base.system.repository import is_repository
        from trainyard.change.synth.on_disk import judge_tree

        if not is_repository(root):
            raise TrainyardError(
                "this folder is not in a repository; name files, or read standard input: trainyard validate -"
            )

        with progress(quiet=quiet):
            result = judge_tree(
                root, clusters=cluster or None, allow_unknown=allowed.patterns, base=base, against=against
            )
    allowed.require_used(obj.object for obj in result.objects if obj.verdict == "unknown")
    top = Path() if paths else root
    ignore(result, root, rules=ignored, baseline=baseline, write_baseline=write_baseline, base=top)
    report(result, format_, view_of("validate", top, quiet=quiet, summary=summary, strict=strict, verbose=verbose))
    return result.exit_code(strict=strict)


def check_named_files(
    paths: Sequence[str],
    root: Path,
    *,
    kubernetes: str | None = None,
    projects: Mapping[str, str] | None = None,
    allow_unknown: Sequence[str] = (),
    exclude: Sequence[str] = (),
    build: bool = False,
    apply: Apply | None = None,
    gates: Gates | None = None,
    old: Sequence[str] | None = None,
    against: str | None = None,
) -> Result:
    """Judge what somebody names; files of a generated tree against the releases of their cluster, if none are given.

    The schemas and policies of the repository at `root` count, and a finding says which of its policies are broken.
    """
    from trainyard.base.errors import TrainyardError
    from trainyard.base.system.ignored import Excluded
    from trainyard.judge.checks import inputs, kept_files, of_files, twice
    from trainyard.judge.checks.foreign import sift
    from trainyard.judge.checks.ignores.apply import Accepted, known_names
    from trainyard.judge.checks.ignores.names import Names
    from trainyard.judge.checks.ignores.parts import Part, join, matching, parts_of, read_included
    from trainyard.judge.checks.places import by_place, option
    from trainyard.judge.checks.result import Result

    result, excluded, accepted = Result(), Excluded(exclude), Accepted()
    groups = by_place(paths) if kubernetes is None and projects is None else {None: list(paths)}
    if old and len(groups) > 1:
        raise TrainyardError(ONE_CLUSTER)
    kept = kept_files.open_for(root)
    for place, files in groups.items():
        collected = inputs.collect(files, result.findings.append, excluded=excluded, passed=result.passed)
        found = sift(read_included(collected, accepted.folders, result), named=files)
        if build:
            from trainyard.judge.checks.build import build_sources

            found = build_sources(found, result)
        result.passed += found.passed
        result.unrendered += found.unrendered
        result.others += found.others
        accepted.read(found.files)
        chosen = Part(kubernetes, projects, False, place.where if place else option, place=place)
        parts = parts_of(found.files, accepted.folders, chosen)
        if old and len(parts) > 1:
            raise TrainyardError(ONE_CLUSTER)
        olds: list[Part] = []
        if old:
            past = inputs.collect(old, result.findings.append, excluded=excluded)
            olds = [replace(parts[0], files=sift(past, named=old).files)]
        elif against:
            from trainyard.judge.checks.past import files_at

            then = read_included(files_at(against, files, excluded), accepted.folders, Result())
            olds = parts_of(sift(then, named=files).files, accepted.folders, chosen)
            parts = join(parts, olds)
        for part in parts:
            before = matching(olds, part) if old or against else None
            judging = of_files.Judging(root, part, allow_unknown, apply, gates, before)
            judged = kept.judge(judging.judge, part.files, *judging.inputs())
            twice.weigh(judged, found.resources)
            result.extend(judged)
    accepted.apply(result, lambda: of_files.advice(root), Names(root, known_names(result)))
    result.notes += inputs.say_others(result.others, spelled=paths)
    result.notes += [f"--exclude {item!r} matches no file" for item in excluded.unused()]
    if paths and not result.objects and not result.findings:
        result.add(inputs.report_nothing(paths, result.passed))
    result.add(kept.findings(lambda: of_files.broken_policies(root), "policies", str(root.absolute())))
    return result


def advise(result: Result, root: Path, policies: Callable[[], set[str]]) -> None:
    """Make findings of policies warnings where they only advise: outside a repository of ours."""
    from trainyard.judge.checks.ignores.apply import Accepted, known_names
    from trainyard.judge.checks.ignores.names import Names

    Accepted().apply(result, policies, Names(root, known_names(result)))


def refuse_unused(files: Mapping[str, object], tree: Mapping[str, object], *, paths: bool) -> None:
    """Refuse options that would be passed over in silence: those that say something of files, or of our own tree."""
    from trainyard.base.errors import TrainyardError

    for name, given in (tree if paths else files).items():
        if given and paths:
            raise TrainyardError(f"{name} works only without paths; remove it or the paths")
        if given:
            raise TrainyardError(f"{name} works only with paths; name the files")

"""Judge manifests as the API server with the cluster's operators would."""

from __future__ import annotations

import sys
from pathlib import Path

import typer


def command(
    paths: list[str] = typer.Argument(None, help="Files, folders or -; without any, generated/ of this repository."),
    format_: str = typer.Option("text", "--format", "-o", help="text or json."),
    kubernetes: str = typer.Option(None, help="Kubernetes release; default: the cluster's, else the newest known."),
    with_: list[str] = typer.Option(None, "--with", help="PROJECT=RELEASE installed; repeatable, takes commas."),
    allow_unknown: list[str] = typer.Option(None, help="GROUP/KIND whose unknown verdict does not fail; repeatable."),
    old: list[str] = typer.Option(None, help="The files before, for the rules of updates."),
    against: str = typer.Option(None, help="The Git revision before, for the rules of updates."),
    strict: bool = typer.Option(False, "--strict", help="Warnings fail too."),
    cluster: list[str] = typer.Option(None, help="Only these clusters of the repository."),
    root: Path = typer.Option(Path(), help="The repository."),
) -> int:
    """Judge manifests as the API server with the cluster's operators would; changes nothing."""
    from trainyard.checks import inputs, validate
    from trainyard.checks.versions import parse_projects
    from trainyard.report import render
    from trainyard.system.data import schemas_dir

    if paths:
        result = validate.strangers(
            inputs.collect(paths),
            schemas_dir(root),
            kubernetes=kubernetes,
            projects=parse_projects(with_),
            allow_unknown=allow_unknown or (),
            before=inputs.collect(old or ()),
        )
    else:
        from trainyard.checks.repository import validate_repository
        from trainyard.synth.origins import spec_lines

        result = validate_repository(root, spec_lines(root), clusters=cluster or (), allow_unknown=allow_unknown or ())
    sys.stdout.write(render(result, format_))
    return result.exit_code(strict=strict)

"""Write the skeleton of a repository of one's own."""

from __future__ import annotations

from pathlib import Path

import typer

HIDDEN = {"gitignore": ".gitignore", "gitattributes": ".gitattributes"}
"""Files that packages would leave out if they began with a dot."""


def command(folder: Path = typer.Argument(help="The folder to write to; made if it does not exist.")) -> int:
    """Write the skeleton of a repository: a cluster, a team, a job and a Makefile."""
    import shlex
    from importlib.metadata import version
    from importlib.resources import files

    from trainyard.errors import SpecError
    from trainyard.system.data import write_editor_schemas
    from trainyard.system.files import write

    skeleton = Path(str(files("trainyard"))) / "skeleton"
    sources = sorted(path for path in skeleton.rglob("*") if path.is_file())
    targets = {
        path: folder / path.relative_to(skeleton).with_name(HIDDEN.get(path.name, path.name)) for path in sources
    }
    if folder.exists() and not folder.is_dir():
        raise SpecError(f"{folder} is a file; choose an empty folder")
    taken = [str(target) for target in targets.values() if target.exists()]
    if taken:
        raise SpecError(f"{taken[0]} exists already; choose an empty folder")
    for path, target in targets.items():
        write(target, path.read_text(encoding="utf-8").replace("@VERSION@", version("trainyard")))
    count = len(targets) + len(write_editor_schemas(folder))
    print(f"wrote {count} files to {folder}; next: cd {shlex.quote(str(folder))} && make synth && make check")
    return 0

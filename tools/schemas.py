"""Import API types into `schemas/`: CRDs of operators, core kinds of Kubernetes, default values of charts.

Without options every CRD that `schemas/lock.yaml` pins is fetched from its repository and checked against its hash;
to add an operator, add a line there. `--from`, `--openapi` and `--charts` read folders instead and rewrite the lock.
"""

from __future__ import annotations

import argparse
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "platform"), str(ROOT / "tools")]

import schemas_charts  # noqa: E402  # after the path is set
import schemas_core  # noqa: E402
import schemas_crds  # noqa: E402
import schemas_facts  # noqa: E402
import schemas_json  # noqa: E402
import schemas_templates  # noqa: E402
import schemas_tree  # noqa: E402
from schemas_yaml import Line, dump, load  # noqa: E402
from trainyard.base.system.vendored import CHARTS, INDEX  # noqa: E402
from trainyard.base.versions import order  # noqa: E402
from trainyard.specs.releases.load import facts_of_files  # noqa: E402

UPSTREAM = "https://raw.githubusercontent.com/"
LOCK = "lock.yaml"
KEYS = ("kubernetes", "projects", "charts")
Lock = dict[str, dict[str, dict[str, Any]]]


def main() -> None:
    """Import what the options name, or all that the lock pins."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="crds", type=Path, metavar="DIR", help="CRD files, <project>/<release>/*.yaml")
    parser.add_argument("--openapi", type=Path, metavar="DIR", help="OpenAPI v3 of servers, <release>/api_v1.json …")
    parser.add_argument("--charts", type=Path, metavar="DIR", help="charts, <project>/<release>/<chart>/values.yaml")
    parser.add_argument("--schemas", type=Path, default=ROOT / "schemas", metavar="DIR", help="where to write")
    parser.add_argument("--upstream", default=UPSTREAM, metavar="URL", help="<repository>/<commit>/<path> is below it")
    args = parser.parse_args()
    lock = read(args.schemas / LOCK)
    if args.openapi:
        import_core(args.openapi, args.schemas, lock)
    if args.crds:
        for release in schemas_crds.from_folder(args.crds):
            name_files(release, lock["projects"].get(release.project, {}))
            import_release(release, args.schemas, lock)
    if args.charts:
        import_charts(args.charts, args.schemas, lock)
    if not (args.openapi or args.crds or args.charts):
        fetch_all(args.schemas, lock, fetcher(args.upstream))
    write(args.schemas / LOCK, lock)
    (args.schemas / CHARTS).mkdir(exist_ok=True)
    index = schemas_json.render(schemas_charts.index(lock["charts"]))
    (args.schemas / CHARTS / INDEX).write_text(index, encoding="utf-8", newline="\n")
    if args.schemas.resolve() == (ROOT / "schemas").resolve():
        for line in schemas_facts.missing(facts_of_files(), args.schemas):
            print(line)


def read(file: Path) -> Lock:
    """Return the lock, empty where there is none."""
    found = load(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {key: found.get(key) or {} for key in KEYS}


def write(file: Path, lock: Lock) -> None:
    """Write the lock, sorted by name and release."""
    ordered: dict[str, Any] = {"kubernetes": {name: lined(entry) for name, entry in sorted(lock["kubernetes"].items())}}
    for key in ("projects", "charts"):
        ordered[key] = {
            name: {release: lined(entry) for release, entry in sorted(releases.items())}
            for name, releases in sorted(lock[key].items())
        }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(dump(ordered), encoding="utf-8", newline="\n")


def lined(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with every file on a line of its own."""
    out = dict(entry)
    if "files" in out:
        out["files"] = [Line(file) for file in out["files"]]
    for key in ("sha256", "asked"):
        if key in out:
            out[key] = Line(out[key])
    return out


def name_files(release: schemas_crds.Release, known: dict[str, dict[str, Any]]) -> None:
    """Name files whose place in upstream's repository is not told as the newest known release does, by their names."""
    newest = known[max(known, key=order)]["files"] if known else []
    paths: dict[str, list[str]] = {}
    for entry in newest:
        paths.setdefault(entry["path"].rpartition("/")[2], []).append(entry["path"])
    for entry in release.lock["files"]:
        places = paths.get(entry["path"], [])
        entry["path"] = places[0] if len(places) == 1 else entry["path"]


def import_release(release: schemas_crds.Release, schemas: Path, lock: Lock) -> None:
    """Write one release's schemas, and lock where they come from."""
    count = schemas_tree.write(schemas / release.project / release.name, release.definitions)
    lock["projects"].setdefault(release.project, {})[release.name] = release.lock
    print(f"{release.project} {release.name}: {count} schemas")


def import_core(folder: Path, schemas: Path, lock: Lock) -> None:
    """Write the core kinds of every server release in a folder, the newest patch of each minor last."""
    folders = [folder] if any(folder.glob("api_*.json")) else sorted(path for path in folder.iterdir() if path.is_dir())
    for place in folders:
        release = schemas_core.release(place)
        minor = schemas_core.minor(release)
        count = schemas_tree.write(schemas / "kubernetes" / minor, schemas_core.load(place))
        lock["kubernetes"][minor] = schemas_core.locked(place, release)
        print(f"kubernetes {minor}: {count} schemas")


def import_charts(folder: Path, schemas: Path, lock: Lock) -> None:
    """Write the default values of every chart in a folder; what the lock knows beside them stays.

    Where the folder does not say how a chart is published, the lock does, by this or the newest release that it knows,
    with the version as it is spelled there.
    """
    charts = list(schemas_charts.from_folder(folder, schemas_templates.scopes(schemas)))
    schemas_charts.write(schemas / CHARTS, charts)
    for chart in charts:
        releases = lock["charts"].setdefault(chart.name, {})
        known = releases.get(chart.version) or facts_of_newest(chart.version, releases)
        releases[chart.version] = known | chart.lock
        if "published" not in chart.lock and "version" in known:
            releases[chart.version]["version"] = known["version"]
    print(f"charts: {len(charts)}")


def facts_of_newest(version: str, releases: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the origin of a version of a chart, as the newest known one has it: address, path and spelling."""
    if not releases:
        return {}
    newest = releases[max(releases, key=order)]
    said = {key: newest[key] for key in ("published", "repository", "path") if key in newest}
    if "path" in said and "version" in newest:
        said["path"] = said["path"].replace(newest["version"].removeprefix("v"), version)
    spelled = f"v{version}" if newest.get("version", "").startswith("v") else version
    return {**said, "version": spelled} if "published" in said else {}


def fetch_all(schemas: Path, lock: Lock, fetch: Callable[[str], bytes]) -> None:
    """Fetch and write every release whose repository the lock knows."""
    for project, releases in lock["projects"].items():
        for name, entry in list(releases.items()):
            if "repository" in entry:
                import_release(schemas_crds.from_lock(project, name, entry, fetch), schemas, lock)
    print("core kinds are read from a server: pass --openapi DIR to import them again")


def fetcher(upstream: str) -> Callable[[str], bytes]:
    """Return a function that fetches a file of a repository."""

    def fetch(place: str) -> bytes:
        with urllib.request.urlopen(upstream + place, timeout=60) as answer:
            data: bytes = answer.read()
            return data

    return fetch


if __name__ == "__main__":
    main()

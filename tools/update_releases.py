"""Learns new releases of operators: finds them, imports them, and commits them to a branch with a report.

    make update-releases                         # asks the Go module proxy, PyPI and Git repositories
    make update-releases FROM=folder             # reads folder/crds and folder/charts instead, as tools/schemas.py does
    make update-releases ARGS="--list"           # only says which releases are newer than what we have

All is done in a work tree of its own, which is removed at the end: this one stays as it is, whatever happens. The
message of the commit is the report. Exit code 2 where a step failed, which is named.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "platform"), str(ROOT / "tools")]

from schemas import LOCK, Lock, read  # noqa: E402  # after the path is set
from schemas_charts import BUNDLED  # noqa: E402
from schemas_sources import release as release_of_tag  # noqa: E402
from trainyard.base.system.vendored import CHARTS  # noqa: E402
from trainyard.base.versions import order  # noqa: E402
from updates import changes, clusters, facts, files, registries  # noqa: E402
from updates.collect import Collected  # noqa: E402
from updates.failures import StepError, run, step  # noqa: E402
from updates.registries import Answer, Project  # noqa: E402
from updates.report import Learned, Report  # noqa: E402

CODE = "platform/trainyard"
FACTS = f"{CODE}/specs/releases"


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--from", dest="folder", type=Path, metavar="DIR", help="crds/ and charts/ of new releases")
    options.add_argument("--only", action="append", metavar="PROJECT", help="only this project; repeatable")
    options.add_argument("--list", action="store_true", help="only list newer releases")
    options.add_argument("--ask", action="append", default=[], metavar="A", help="also ask this oracle; repeatable")
    options.add_argument("--branch", default="new-releases", help="the branch to write; default: new-releases")
    options.add_argument("--root", type=Path, default=ROOT, metavar="DIR", help="the repository; default: this one")
    return options


def main() -> int:
    """Do what the options say; return the exit code."""
    args = parser().parse_args()
    try:
        return update(args)
    except StepError as error:
        print(f"{error}\nnothing was changed", file=sys.stderr)
        return 2


def update(args: argparse.Namespace) -> int:
    """Find, import, judge and commit; raises StepError."""
    root = args.root.resolve()
    lock = read(root / "schemas" / LOCK)
    with tempfile.TemporaryDirectory(prefix="releases-") as name:
        scratch = Path(name)
        with step("asking for newer releases"):
            projects = choose_projects(list(all_projects(root, lock)), args.only)
            answers = from_folder(args.folder, projects, args.only or ()) if args.folder else registries.newer(projects)
        lines = {answer_line(answer): bool(answer.newest or answer.older) for answer in answers}
        for line in sorted(lines, key=lambda line: (lines[line], line)):  # news last, where a terminal ends
            print(line, flush=True)
        if args.folder:
            print("\n".join(strangers(args.folder, projects, answers)), flush=True)
        wanted = [answer for answer in answers if answer.newest and answer.has_files]
        if args.list or not wanted:
            return 0
        with step("making the branch"):
            refuse_branch(root, args.branch)
        with work_tree(root, scratch / "tree") as tree:
            report = Report(answers, [])
            learn(report, wanted, lock, tree, scratch, args.folder)
            judge(report, root, tree)
            if not report.learned:
                print(report.text() + "nothing was imported")
                return 0
            for question in args.ask:
                with step(f"asking {question}"):
                    report.asked += run([sys.executable, "tools/oracles/agree.py", question], tree).splitlines()
            with step("writing the branch"):
                commit(tree, report, args.branch)
    print(report.text())
    print(f"branch {args.branch}: {len(report.learned)} releases; read its report: git log -1 {args.branch}")
    return 0


def all_projects(root: Path, lock: Lock) -> list[Project]:
    """Return the projects that are known, with the releases that their facts and API types have."""
    from schemas_yaml import load

    named = {
        file.stem: load(file.read_text(encoding="utf-8"))["releases"].keys() for file in (root / FACTS).glob("*.yaml")
    }
    return list(registries.projects(lock, named))


def choose_projects(projects: list[Project], only: list[str] | None) -> list[Project]:
    """Return the projects that are named, or all; raises ValueError for a name that no project has."""
    by_name = {project.name: project for project in projects}
    for name in only or ():
        if name not in by_name:
            near = get_close_matches(name, by_name, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(by_name)}"
            raise ValueError(f"no project is named '{name}'{hint}")
    return [by_name[name] for name in dict.fromkeys(only or by_name)]


def strangers(folder: Path, projects: list[Project], answers: list[Answer]) -> Iterator[str]:
    """Yield why nothing of a folder is imported, as far as that is so: all of it is known, or not where it belongs."""
    if answers:
        return
    held = {place.name for kind in ("crds", "charts") for place in (folder / kind).glob("*") if place.is_dir()}
    known = sorted(held & {project.name for project in projects})
    if known:
        yield f"{folder.name}/ has no release of {', '.join(known)} that is not known"
    else:
        yield f"{folder.name}/ has no folder crds/<project>/<tag>/ or charts/<project>/<tag>/ of a known project"


def from_folder(folder: Path, projects: list[Project], named: Collection[str]) -> list[Answer]:
    """Return the newest release of each project that a folder holds and that is not known.

    An older one than those that are known is taken of projects that are named, and else only reported.
    """
    answers = []
    for project in projects:
        places = [place for kind in ("crds", "charts") for place in (folder / kind / project.name).glob("*")]
        releases = [release_of_tag(place.name) for place in places if place.is_dir()]
        newest, older = registries.newest_of(project, releases), registries.older_of(project, releases)
        if newest is None and project.name in named:
            newest, older = older, None
        if newest or older:
            answers.append(Answer(project, f"{folder.name}/", newest, older=older))
    return answers


def answer_line(answer: Answer) -> str:
    """Return an answer as a line."""
    name, known = answer.project.name, answer.project.known
    if answer.error:
        return f"{name} {known}: {answer.registry} could not be asked: {answer.error}"
    if answer.newest is None and answer.older:
        older = f"{answer.registry} has {answer.older}, which is older and not known"
        return f"{name} {known}: {older}; import it with --only {name}"
    if answer.newest is None:
        return f"{name} {known}: {answer.registry} has nothing newer"
    return f"{name} {known}: {answer.registry} has {answer.newest}" + ("" if answer.has_files else ", without files")


def refuse_branch(root: Path, branch: str) -> None:
    """Stop where the branch exists, or where changes that are not committed would not be in it."""
    if run(["git", "branch", "--list", branch], root).strip():
        raise ValueError(f"branch {branch} exists; merge or delete it, or name another with --branch")
    if run(["git", "status", "--porcelain"], root).strip():
        raise ValueError("there are changes that are not committed; commit them first")


@contextmanager
def work_tree(root: Path, place: Path) -> Iterator[Path]:
    """Yield a second work tree of the last commit, and remove it at the end."""
    with step("making a work tree"):
        run(["git", "worktree", "add", "--quiet", "--detach", place, "HEAD"], root)
    try:
        shutil.copytree(root / CODE, place / CODE, dirs_exist_ok=True)  # the same code, with what Python compiled of it
        yield place
    finally:
        run(["git", "worktree", "remove", "--force", place], root)


def learn(report: Report, wanted: list[Answer], lock: Lock, tree: Path, scratch: Path, folder: Path | None) -> None:
    """Import all releases into a work tree, and say what they change."""
    with step("reading upstream's files"):
        trees, older = fetch(wanted, lock, scratch) if folder is None else ({}, None)
        collected = Collected(folder or scratch / "new")
        for answer in wanted if folder is None else ():
            collected.add(answer.project, str(answer.newest), trees[answer.project.name], lock)
        collected.finish() if folder is None else None
        wanted = list(with_charts(wanted, lock, collected.folder, report))
    if not wanted:
        return
    with step("importing API types and charts"):
        importing(tree, collected.folder, wanted, scratch)
    for answer in wanted:
        new = str(answer.newest)
        old = registries.neighbour(new, answer.project.releases)
        learned = Learned(answer.project.name, old, new)
        learned.notes += [note for note in collected.notes if note.startswith(f"{learned.project} ")]
        with step(f"writing the facts of {learned.project} {learned.new}"):
            file = tree / FACTS / f"{learned.project}.yaml"
            place = tree_folder(collected.folder / "charts" / learned.project, learned.new)
            if file.is_file():
                learned.notes += facts.add_release(
                    file, answer.project, learned.new, trees.get(learned.project), place or Path("none")
                )
        with step(f"comparing {learned.project} {learned.new}"):
            learned.changes = [*of_types(learned, lock, tree), *of_charts(learned, lock, tree, collected.folder, older)]
        report.learned.append(learned)


def judge(report: Report, root: Path, tree: Path) -> None:
    """Say what of our own clusters and jobs is judged otherwise: as they are, and with each release."""
    if not report.learned:
        return
    with step("judging our clusters before"):
        before = clusters.judged(root)
    with step("writing the pages"):
        pages(tree)
    run(["git", "add", "--all"], tree)
    with step("judging our clusters after"):
        after = clusters.judged(tree)
    report.appeared, report.gone = after - before, before - after
    for learned in report.learned:
        with step(f"judging our clusters with {learned.project} {learned.new}"):
            try_out(learned, tree, after)


def fetch(wanted: list[Answer], lock: Lock, scratch: Path) -> tuple[dict[str, files.Tree], Path | None]:
    """Fetch the files of each new release, and the charts of the known ones, of which we keep only the values."""
    older = Collected(scratch / "old")
    trees = {}
    for answer in wanted:
        project = answer.project
        trees[project.name] = files.of_release(answer, str(answer.newest), scratch)
        if any(entry["project"] == project.name for chart in lock["charts"].values() for entry in chart.values()):
            older.add(project, project.known, files.of_release(answer, project.known, scratch), lock)
    return trees, older.folder


def with_charts(wanted: list[Answer], lock: Lock, folder: Path, report: Report) -> Iterator[Answer]:
    """Yield the releases whose charts are there, if they have their own; nobody could install the others."""
    for answer in wanted:
        project = answer.project
        place = tree_folder(folder / CHARTS / project.name, str(answer.newest)) or Path("none")
        lacking = [
            f"{name} of {entry.get('repository', 'upstream')}"
            for name, releases in lock["charts"].items()
            for release, entry in releases.items()
            if entry["project"] == project.name and release == project.known
            if entry.get("published") != BUNDLED and not (place / name).is_dir()
        ]
        if lacking:
            where = f"FROM/{CHARTS}/{project.name}/{answer.newest}/"
            report.left.append(f"{project.name} {answer.newest}: put its chart {', '.join(lacking)} into {where}")
        else:
            yield answer


def importing(tree: Path, folder: Path, wanted: list[Answer], scratch: Path) -> None:
    """Run the importer of the work tree on the releases that are wanted, and on nothing else of the folder."""
    chosen = scratch / "chosen"
    arguments: list[str | Path] = []
    for kind, option in (("crds", "--from"), ("charts", "--charts")):
        held = False
        for answer in wanted:
            place = tree_folder(folder / kind / answer.project.name, str(answer.newest))
            if place is not None:
                held = True
                target = chosen / kind / answer.project.name / place.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(place.resolve(), target_is_directory=True)
        if held:
            for name in ("SOURCES.md", "index.json"):
                if (folder / kind / name).is_file():
                    (chosen / kind / name).symlink_to((folder / kind / name).resolve())
            arguments += [option, chosen / kind]
    run([sys.executable, tree / "tools" / "schemas.py", *arguments], tree)


def tree_folder(folder: Path, release: str) -> Path | None:
    """Return the folder of a release, as its tag spells it; None where there is none."""
    places = folder.glob("*") if folder.is_dir() else ()
    return next((place for place in places if release_of_tag(place.name) == release), None)


def of_types(learned: Learned, lock: Lock, tree: Path) -> Iterator[changes.Change]:
    """Yield the changes of API types."""
    typed = lock["projects"].get(learned.project, {})
    if typed and (tree / "schemas" / learned.project / learned.new).is_dir():
        before = registries.neighbour(learned.new, typed)
        yield from changes.of_types(tree / "schemas", learned.project, before, learned.new)


def of_charts(learned: Learned, lock: Lock, tree: Path, new: Path, older: Path | None) -> Iterator[changes.Change]:
    """Yield the changes of the values and webhooks of charts."""
    now, values = read(tree / "schemas" / LOCK)["charts"], tree / "schemas" / CHARTS
    place = tree_folder(new / CHARTS / learned.project, learned.new)
    before = tree_folder((older or new) / CHARTS / learned.project, learned.old)
    for chart, releases in lock["charts"].items():
        added = now[chart].keys() - releases.keys()
        if not added or now[chart][min(added)]["project"] != learned.project or place is None:
            continue
        version = max(added, key=order)
        old = registries.neighbour(version, releases)
        yield from changes.of_values(chart, values / chart / f"{old}.yaml", values / chart / f"{version}.yaml")
        yield from changes.of_webhooks(chart, before / chart if before else None, place / chart)


def pages(tree: Path) -> None:
    """Write again what is made from facts and types: pages, editor schemas, the tree of clusters."""
    for name in ("docs.py", "editor_schemas.py"):
        if (tree / "docs").is_dir():
            run([sys.executable, tree / "tools" / name], tree)
    done = clusters.trainyard(tree, "synth")
    if done.returncode:
        raise ValueError(done.stdout + done.stderr)


def try_out(learned: Learned, tree: Path, before: clusters.Findings) -> None:
    """Judge and render the clusters that name a project as if they named its new release, and put them back."""
    moved = list(clusters.naming(tree, learned.project))
    if not moved:
        return
    for cluster in moved:
        clusters.move(tree, learned.project, cluster, learned.new)
    learned.rendered = clusters.trainyard(tree, "synth").returncode == 0
    after = clusters.judged(tree)
    learned.clusters = [Path(cluster.file).stem for cluster in moved]
    learned.appeared, learned.gone = after - before, before - after
    learned.objects = dict(clusters.rendered_changes(tree))
    run(["git", "checkout", "--quiet", "--", "."], tree)
    run(["git", "clean", "--quiet", "--force", "-d", "--", "generated"], tree)


def commit(tree: Path, report: Report, branch: str) -> None:
    """Commit the work tree to a new branch, with the report as the message."""
    run(["git", "add", "--all"], tree)
    message = f"{report.subject()}\n\n{report.text()}"
    run(["git", "commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file", "-"], tree, text=message)
    run(["git", "branch", branch, "HEAD"], tree)


if __name__ == "__main__":
    sys.exit(main())

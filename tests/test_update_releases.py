"""New releases are imported into a branch with a report, and a step that fails leaves everything as it was."""

from __future__ import annotations

import os
import runpy
import shlex
import shutil
import subprocess
import zipfile
from types import SimpleNamespace
from unittest import mock

import pytest
import yaml

import page
from acme_releases import FACTS, NEW, OLD, publish, repository
from conftest import ROOT
from repo import ENV
from tool import tool


def state(repo):
    """Return what a failed update may not change: branches, work trees, the last commit and the files."""
    return [repo.git(*command.split()) for command in ("branch --all", "worktree list", "log -1", "status --short")]


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    """A repository that knows acme 1.0.0, and uses it."""
    folder = tmp_path_factory.mktemp("updates")
    publish(folder / "old", "1.0.0", OLD, {"replicas": 1, "log": {"level": "info"}})
    return repository(folder / "repository", folder / "old")


def update(repo, upstream, *arguments):
    """Run the tool on a folder of upstream's files."""
    with mock.patch.dict(os.environ, ENV):
        return tool("update_releases.py", "--root", repo.root, "--from", upstream, *arguments)


@pytest.mark.slow
@pytest.mark.node
def test_a_newer_release_is_imported_with_a_report(repo, tmp_path):
    """The branch has its types, chart and facts; the report what changed, and what our cluster would be told."""
    publish(tmp_path, "1.1.0", NEW, {"log": {"level": "warn"}, "debug": False}, hooks=True)
    before = state(repo)
    done = update(repo, tmp_path)
    assert done.returncode == 0, done.stderr
    assert state(repo)[1:] == before[1:], "the work tree of whoever runs it stays as it was"
    report = repo.git("log", "-1", "--format=%B", "new-releases")
    for line in (
        "Learn acme 1.1.0",
        "- removed API version: acme.example/v1alpha1 Gadget",
        "- new field: acme.example/v1 Gadget.spec.colour: string",
        "- new rule: acme.example/v1 Gadget.spec: `self.size > 0` size must be more than 0",
        "- default: acme.example/v1 Gadget.spec.size: 1 → 2",
        '- limit: acme.example/v1 Gadget.spec.mode: enum: -"b"',
        "- removed value: acme replicas: 1",
        '- changed value: acme log.level: "info" → "warn"',
        "- webhook: acme /validate-acme",
        "- acme 1.1.0: clusterKinds assumed as in 1.0.0; read them",
        "Tried with test.",
    ):
        assert line in report.splitlines(), line
    assert "Nothing could be rendered, because of the errors below." in report.splitlines()
    assert any("`values/unknown`" in line and "replicas" in line for line in report.splitlines()), report
    facts = repo.git("show", "new-releases:platform/trainyard/specs/releases/acme.yaml")
    assert "# The first." in facts
    assert 'kubernetes: {oldest: "1.32"}' in facts
    changed = repo.git("diff", "--name-only", "main", "new-releases").splitlines()
    assert "schemas/charts/acme/1.1.0.yaml" in changed
    assert not [name for name in changed if name.startswith(("jobs/", "platform/clusters/"))]


FAILURES = {
    "a definition that cannot be read": ({}, "{", "importing API types and charts failed: "),
    "changes that are not committed": ({"new.txt": "a"}, "", "making the branch failed: there are changes"),
}


@pytest.mark.parametrize(("dirt", "crd", "said"), FAILURES.values(), ids=FAILURES)
def test_a_step_that_fails_is_named_and_changes_nothing(repo, tmp_path, dirt, crd, said):
    """Neither a branch nor a work tree nor a file is left behind."""
    publish(tmp_path, "1.2.0", NEW, {})
    if crd:
        (tmp_path / "crds/acme/v1.2.0/gadgets.yaml").write_text(crd, encoding="utf-8")
    for name, text in dirt.items():
        repo.put(name, text)
    before = state(repo)
    done = update(repo, tmp_path, "--branch", "never")
    for name in dirt:
        (repo.root / name).unlink()
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.endswith("nothing was changed\n")
    assert [*state(repo)[:3], ""] == [*before[:3], ""]


def test_a_folder_without_news_changes_nothing(repo, tmp_path):
    """A release that is known is no news, and one whose chart is missing is not imported."""
    publish(tmp_path, "1.0.0", OLD, {})
    assert "branch" not in update(repo, tmp_path).stdout
    publish(tmp_path, "1.3.0", NEW, {})
    shutil.rmtree(tmp_path / "charts")
    before = state(repo)
    done = update(repo, tmp_path, "--branch", "none")
    assert "- acme 1.3.0: put its chart acme of acme/acme into FROM/charts/acme/1.3.0/" in done.stdout.splitlines()
    assert (done.returncode, state(repo)) == (0, before)


OTHERS = {
    "an older release": ((), 0, "acme 1.0.0: new/ has 0.9.0, which is older and not known; import it with --only acme"),
    "an older release of a project that is named": (("--only", "acme"), 0, "acme 1.0.0: new/ has 0.9.0"),
    "another project": (("--only", "kueue"), 0, "new/ has no folder crds/<project>/<tag>/ or charts/<project>/<tag>/"),
    "a project that is misspelled": (("--only", "acne"), 2, "no project is named 'acne'; did you mean 'acme'?"),
}


@pytest.mark.parametrize(("arguments", "code", "said"), OTHERS.values(), ids=OTHERS)
def test_what_is_not_imported_of_a_folder_is_told(repo, tmp_path, arguments, code, said):
    """An older release is taken where its project is named, and nothing is left out in silence."""
    publish(tmp_path / "new", "0.9.0", OLD, {})
    done = update(repo, tmp_path / "new", "--list", *arguments)
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_the_lock_says_of_a_release_without_sources_what_it_says_of_the_known_one(tmp_path):
    """Its chart is published where the other is, and its files lie where those of the same name do."""
    publish(tmp_path / "old", "1.0.0", OLD, {})
    index = '{"crds": [{"file": "acme/v1.0.0/gadgets.yaml", "source": "config/gadgets.yaml", "verbatim": true}]}'
    (tmp_path / "old/crds/index.json").write_text(index, encoding="utf-8")
    publish(tmp_path / "new", "0.9.0", OLD, {})
    for kind in ("crds", "charts"):
        (tmp_path / "new" / kind / "SOURCES.md").unlink()
    for folder in (tmp_path / "old", tmp_path / "new"):
        tool("schemas.py", "--from", folder / "crds", "--charts", folder / "charts", "--schemas", tmp_path / "schemas")
    lock = yaml.safe_load((tmp_path / "schemas/lock.yaml").read_text(encoding="utf-8"))
    old, new = (lock["charts"]["acme"][release] for release in ("1.0.0", "0.9.0"))
    assert [new[key] for key in ("published", "version")] == [old["published"], "0.9.0"]
    assert "clusterKinds" in new
    assert lock["projects"]["acme"]["0.9.0"]["files"][0]["path"] == "config/gadgets.yaml"
    assert "0.9.0" in (tmp_path / "schemas/charts/index.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(("release", "expected"), [("1.1.5", "1.1.0"), ("0.9.0", "1.0.0"), ("2.0.0", "1.2.0")])
def test_a_release_is_compared_with_its_neighbour(tools, release, expected):
    """That is the newest below it, or the oldest above where there is none below."""
    assert tools.registries.neighbour(release, ["1.2.0", "1.0.0", "1.1.0", release]) == expected


@pytest.fixture
def tools(monkeypatch):
    """The modules of the tool."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    from updates import changes, clusters, collect, facts, files, registries

    return SimpleNamespace(
        changes=changes, clusters=clusters, collect=collect, facts=facts, files=files, registries=registries
    )


TAGS = "a\trefs/tags/v1.2.0\nb\trefs/tags/v1.3.0-rc.1\nc\trefs/tags/v1.2.9\nd\trefs/tags/chart-9.0.0\n"
ANSWERS = {
    "a Go module": (
        {"module": "acme.example/acme"},
        '{"Versions": ["v1.4.0", "v1.5.0-rc.1"]}',
        "1.4.0",
        True,
    ),
    "tags of a repository, spelled as the known one": ({}, TAGS, "1.2.9", True),
    "a package, whose files are elsewhere": ({"package": "acme"}, "Available versions: 1.6.0, 1.2.0", "1.6.0", False),
    "another project's releases in one repository": ({"begins": "1.1"}, TAGS, None, True),
    "nothing newer": ({"module": "acme.example/acme"}, "{}", None, True),
}


@pytest.mark.parametrize(("row", "printed", "newest", "files"), ANSWERS.values(), ids=ANSWERS)
def test_a_registry_says_which_release_is_the_newest(tools, monkeypatch, row, printed, newest, files):
    """Previews do not count, nor what is not newer than the known release."""
    monkeypatch.setattr(tools.registries, "output_of", lambda *_: printed)
    project = tools.registries.Project(
        "acme", "1.1.0", "" if "package" in row else "acme/acme", "v1.1.0", tools.registries.Row(**row)
    )
    (answer,) = tools.registries.ask(project)
    assert (answer.newest, answer.has_files, answer.error) == (newest, files, "")


def test_a_registry_that_is_silent_is_told(tools, monkeypatch):
    """A project whose registry cannot be reached is neither new nor old."""

    def silent(*command):
        raise subprocess.CalledProcessError(128, command, "", "fatal: no such host")

    monkeypatch.setattr(tools.registries, "output_of", silent)
    (answer,) = tools.registries.ask(tools.registries.Project("acme", "1.1.0", "acme/acme", "v1.1.0"))
    assert (answer.newest, answer.error) == (None, "fatal: no such host")


def test_files_of_an_archive_are_laid_out_for_the_importer(tools, tmp_path):
    """Definitions that the lock names, new ones of the same group beside them, and the chart with its templates."""
    archive = tmp_path / "a.zip"
    other = {**NEW, "spec": {**NEW["spec"], "group": "other.example"}}
    with zipfile.ZipFile(archive, "w") as out:
        for name, text in {
            "config/gadgets.yaml": yaml.safe_dump(NEW),
            "config/more.yaml": yaml.safe_dump(NEW),
            "config/others.yaml": yaml.safe_dump(other),
            "config/kustomization.yaml": "resources: []",
            "charts/acme/values.yaml": "a: 1",
            "charts/acme/templates/a.yaml": "{{ .Values.a }}",
        }.items():
            out.writestr(f"acme.example/acme@v1.1.0/{name}", text)
    tree = tools.files.Archive(archive, "acme.example/acme@v1.1.0/", "client")
    project = tools.registries.Project("acme", "1.0.0", "acme/acme", "v1.0.0")
    chart = {"project": "acme", "repository": "acme/acme", "path": "client/charts/acme", "version": "v1.0.0"}
    lock = {
        "projects": {"acme": {"1.0.0": {"files": [{"path": "client/config/gadgets.yaml"}]}}},
        "charts": {"acme": {"1.0.0": chart}},
    }
    collected = tools.collect.Collected(tmp_path / "out")
    collected.add(project, "1.1.0", tree, lock)
    collected.finish()
    files = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert files == {
        *(f"crds/acme/v1.1.0/client_config_{name}.yaml" for name in ("gadgets", "more")),
        *(f"{kind}/SOURCES.md" for kind in ("crds", "charts")),
        "crds/index.json",
        "charts/acme/v1.1.0/acme/values.yaml",
        "charts/acme/v1.1.0/acme/templates/a.yaml",
    }
    assert collected.notes == ["acme v1.1.0 has the new file client/config/more.yaml"]
    assert "| v1.1.0 | acme/acme |" in (tmp_path / "out/charts/SOURCES.md").read_text()


SPELLED = {
    "on one line": '  acme: {version: "1.0.0", managed: false}\n',
    "not first": "  acme: {managed: false, version: 1.0.0}\n",
    "in a block": "  acme:\n    version: '1.0.0'\n",
}


@pytest.mark.parametrize("text", SPELLED.values(), ids=SPELLED)
def test_a_cluster_is_moved_however_its_release_is_written(tools, tmp_path, text):
    """The rest of the file stays."""
    file = tmp_path / "platform/clusters/a.yaml"
    file.parent.mkdir(parents=True)
    others = '  kueue: {version: "1.0.0"}\n'
    file.write_text(f"operators:\n{others}{text}")
    (moved,) = tools.clusters.naming(tmp_path, "acme")
    tools.clusters.move(tmp_path, "acme", moved, "2.0.0")
    assert yaml.safe_load(file.read_text())["operators"]["acme"]["version"] == "2.0.0"
    assert others in file.read_text()


TABLE = "| Acme | Kubernetes |\n|---|---|\n| 1.1 | v1.37, v1.36 |\n| 1.0 | v1.35 |\n"
BOUNDS = {
    "a table of the project": ("1.1.0", "README.md", '"1.36"', '"1.37"'),
    "a patch, which says nothing new": ("1.0.3", "README.md", '"1.30"', None),
}


@pytest.mark.parametrize(("release", "file", "oldest", "newest"), BOUNDS.values(), ids=BOUNDS)
def test_facts_take_the_versions_of_kubernetes_from_upstream(tools, tmp_path, release, file, oldest, newest):
    """Everything else is that of the release before, which the source says."""
    facts = tmp_path / "acme.yaml"
    facts.write_text(FACTS)
    row = tools.registries.Row(kubernetes=file)
    project = tools.registries.Project("acme", "1.0.0", "acme/acme", "v1.0.0", row)
    (tmp_path / "README.md").write_text(TABLE)
    tools.facts.add_release(facts, project, release, tools.files.Folder(tmp_path), tmp_path / "none")
    said = yaml.safe_load(facts.read_text())["releases"]
    bounds = {"oldest": oldest.strip('"')} | ({"newest": newest.strip('"')} if newest else {})
    assert said[release]["kubernetes"] == bounds
    assert "assumed as in 1.0.0" in said[release]["source"]
    assert said["1.0.0"] == yaml.safe_load(FACTS)["releases"]["1.0.0"]


def commands():
    """Yield the commands of the page that run the tool."""
    for _, language, _, text in page.BLOCK.findall(page.text("new-releases.md")):
        yield from (line for line in text.splitlines() if language == "sh" and "update-releases" in line)


@pytest.mark.parametrize("line", [*commands()])
def test_commands_of_the_page_are_taken(line):
    """Each has options that the tool knows; what they do is tested above, but for asking the network."""
    done = subprocess.run(
        [*shlex.split(line), "-n", "READY=", "KUBECONFORM="], cwd=ROOT, capture_output=True, text=True, check=True
    )
    (called,) = (shlex.split(said) for said in done.stdout.splitlines() if "tools/update_releases.py" in said)
    parser = runpy.run_path(str(ROOT / "tools/update_releases.py"))["parser"]
    assert vars(parser().parse_args(called[2:]))["root"] == ROOT

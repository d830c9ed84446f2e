"""A release is made of a commit and of nothing else, and says what it brings along."""

from __future__ import annotations

import hashlib
import json
import os
import runpy
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from conftest import ROOT
from repo import ENV
from tool import tool
from trainyard import __version__
from trainyard.base.system.distribution import NAME

SOURCES = ("tools", "platform/trainyard", "schemas", "policies", "pyproject.toml", "constraints.txt", "README.md")
STEM = f"trainyard_gitops-{__version__}"
FILES = [f"{STEM}-py3-none-any.whl", f"{STEM}.cdx.json", f"{STEM}.tar.gz", f"{STEM}.intoto.json"]


def made(folder: Path, *, umask: int, zone: str) -> Path:
    """Clone this repository into a folder, leave litter there, and make a release under other circumstances."""
    git = ["git", "-c", "core.autocrlf=false"]
    subprocess.run([*git, "clone", "--quiet", "--no-checkout", ROOT, folder], env=ENV, check=True)
    subprocess.run([*git, "checkout", "--quiet", "HEAD", "--", *SOURCES], cwd=folder, env=ENV, check=True)
    for name in ("platform/trainyard/mine.py", "policies/mine.yaml", "schemas/.DS_Store"):
        (folder / name).write_text("never committed")
    for path in (folder / "platform").rglob("*.py"):
        os.utime(path, (umask * 1e6, umask * 1e6))
    env = {**ENV, "TZ": zone, "PYTHONPATH": "", "PYTHONHASHSEED": str(umask)}
    command = [sys.executable, "tools/dist.py", "--out", "out"]
    done = subprocess.run(command, cwd=folder, env=env, umask=umask, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (folder / "out" / "SHA256SUMS").read_text()
    return folder / "out"


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """Releases of one commit, made in two clones."""
    top = tmp_path_factory.mktemp("dist")
    return made(top / "a", umask=0o022, zone="UTC"), made(top / "b c", umask=0o077, zone="Asia/Kathmandu")


@pytest.mark.slow
def test_two_clones_make_the_same_bytes(releases):
    """Folder, time, zone, rights and what lies about change nothing, and the hashes are those of the files."""
    one, other = releases
    assert sorted(path.name for path in one.iterdir()) == ["SHA256SUMS", *sorted(FILES)]
    assert [(other / path.name).read_bytes() == path.read_bytes() for path in sorted(one.iterdir())] == [True] * 5
    sums = dict(reversed(line.split("  ")) for line in (one / "SHA256SUMS").read_text().splitlines())
    assert sums == {name: hashlib.sha256((one / name).read_bytes()).hexdigest() for name in FILES}


@pytest.mark.slow
def test_the_first_supported_python_makes_a_release(tmp_path, monkeypatch):
    """Python 3.11.0 to 3.11.3 extract without a filter: they know none."""
    extract = tarfile.TarFile.extractall
    monkeypatch.setattr(tarfile.TarFile, "extractall", lambda self, path: extract(self, path))
    monkeypatch.syspath_prepend(ROOT / "tools")
    runpy.run_path(str(ROOT / "tools/dist.py"))["exported"](tmp_path)
    assert (tmp_path / "platform/trainyard/__init__.py").is_file()


@pytest.mark.slow
def test_a_release_holds_what_was_committed(releases, tmp_path):
    """The wheel has the package with its data and skeleton, and the source makes the same wheel."""
    one, _ = releases
    with zipfile.ZipFile(one / FILES[0]) as archive:
        names = archive.namelist()
    assert {"trainyard/faces/drafts/skeleton/base/Makefile", "trainyard/data/schemas/lock.yaml"} <= set(names)
    assert {name.split("/")[0] for name in names} == {"trainyard", f"{STEM}.dist-info"}
    assert not [name for name in names if "mine" in name.split("/")[-1] or "DS_Store" in name]
    with tarfile.open(one / FILES[2]) as archive:
        times = {member.mtime for member in archive.getmembers()}
        archive.extractall(tmp_path, filter="data")
    (seconds,) = times
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    env = {**ENV, "SOURCE_DATE_EPOCH": str(int(seconds))}
    subprocess.run(command, cwd=tmp_path / STEM, env=env, capture_output=True, check=True)
    assert (tmp_path / FILES[0]).read_bytes() == (one / FILES[0]).read_bytes()


@pytest.mark.slow
def test_the_provenance_is_of_these_files(releases):
    """It names every other file by its hash, and the commit and the lock that they were made of."""
    one = releases[0]
    said = json.loads((one / FILES[3]).read_text())
    files = {item["name"]: item["digest"]["sha256"] for item in said["subject"]}
    assert files == {name: hashlib.sha256((one / name).read_bytes()).hexdigest() for name in FILES[:3]}
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, env=ENV, capture_output=True, text=True, check=True)
    build = said["predicate"]["buildDefinition"]
    source, lock = build["resolvedDependencies"]
    assert build["externalParameters"]["commit"] == source["digest"]["gitCommit"] == commit.stdout.strip()
    made_by = subprocess.run(
        ["git", "show", f"HEAD:{lock['name']}"], cwd=ROOT, env=ENV, capture_output=True, check=True
    )
    assert lock["digest"]["sha256"] == hashlib.sha256(made_by.stdout).hexdigest()


@pytest.mark.slow
def test_the_bill_of_materials_is_whole(releases):
    """It names what the wheel requires with the extras that are pinned, and what of that requires what."""
    text = (releases[0] / FILES[1]).read_text()
    bill = json.loads(text)
    parts = {component["name"]: component for component in bill["components"]}
    listed = tool("closure.py", "--extra", "synth", "--extra", "live").stdout.split()
    assert [f"{name}=={part['version']}" for name, part in parts.items()] == listed
    assert (parts["pydantic"]["scope"], parts["cdk8s"]["scope"]) == ("required", "optional")
    about = bill["metadata"]["component"]
    digest = hashlib.sha256((releases[0] / FILES[0]).read_bytes()).hexdigest()
    assert (about["name"], about["version"], about["hashes"][0]["content"]) == (NAME, __version__, digest)
    graph = {dependency["ref"]: dependency["dependsOn"] for dependency in bill["dependencies"]}
    assert set(graph) == {about["bom-ref"], *(part["bom-ref"] for part in parts.values())}
    assert parts["pydantic-core"]["bom-ref"] in graph[parts["pydantic"]["bom-ref"]]
    reached, waiting = set(), [about["bom-ref"]]
    while waiting:
        if (ref := waiting.pop()) not in reached:
            reached.add(ref)
            waiting += graph[ref]
    assert reached == set(graph)


@pytest.mark.slow
def test_the_bill_of_materials_keeps_to_its_schema(releases):
    """CycloneDX's own library finds no fault, and reads it."""
    reason = "cyclonedx is not installed, so that no bill of materials is held against its schema: run `make setup`"
    validation = pytest.importorskip("cyclonedx.validation.json", reason=reason)
    from cyclonedx.model.bom import Bom
    from cyclonedx.schema import SchemaVersion

    text = (releases[0] / FILES[1]).read_text()
    validator = validation.JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(text) is None
    assert validator.validate_str(text.replace('"library"', '"libary"')) is not None
    assert Bom.from_json(json.loads(text)).validate()


def test_no_file_names_a_registry():
    """Where packages come from is said by whoever installs them, never here."""
    for name in (
        "pyproject.toml",
        "constraints.txt",
        "Makefile",
        ".ci/run",
        "platform/trainyard/faces/drafts/skeleton/base/Makefile",
    ):
        text = (ROOT / name).read_text()
        assert "index-url" not in text, name
        assert "find-links" not in text, name

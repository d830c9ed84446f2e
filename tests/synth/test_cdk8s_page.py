"""What docs/cdk8s.md shows runs: a program of one's own, and programs that add to the tree."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
import yaml

import page
from command import call
from conftest import ROOT
from make import CLUSTER, write_repository
from trainyard import constructs
from trainyard.change.constructs.run import resolve_run
from trainyard.render.tree.layout import index_file

pytestmark = [pytest.mark.node, pytest.mark.slow]

PAGE = "cdk8s.md"
FILES = page.files(PAGE)
COMMAND = re.compile(r"`trainyard (validate dist [^`]+)`")
TEN = {
    "ArgoCd",
    "CheckpointClaims",
    "FabricNetworks",
    "Hardware",
    "KubeletSettings",
    "Monitoring",
    "OperatorInstall",
    "Platform",
    "QueueSet",
    "TeamSpace",
    "TrainingRun",
}


def objects(folder: Path) -> list[dict]:
    """Return every object in the YAML files of a folder."""
    return [value for path in sorted(folder.rglob("*.yaml")) for value in yaml.safe_load_all(path.read_text())]


def run(root: Path, text: str) -> dict:
    """Run a program in this process, where Node has its own idea of the folder, and return its names."""
    program = root / "main.py"
    program.write_text(text.replace("cdk8s.App()", f"cdk8s.App(outdir={str(root / 'dist')!r})"))
    return runpy.run_path(str(program))


def test_a_program_of_ones_own_renders_what_would_be_admitted(tmp_path):
    """The page's program and its command: a run beside an object of one's own, of which nothing is wrong."""
    made = run(tmp_path, FILES["main.py"])
    found = {(item["kind"], item["metadata"]["name"]): item for item in objects(tmp_path / "dist")}
    name = made["run"].name
    assert found["JobSet", name]["metadata"]["namespace"] == "nlp"
    assert found["ConfigMap", "latest"]["data"] == {"run": name}
    assert {"ClusterQueue", "LocalQueue", "Namespace", "ResourceFlavor", "Role"} <= {kind for kind, _ in found}
    (command,) = COMMAND.findall(page.text(PAGE))
    done = call(tmp_path, *command.split(), "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(found)} objects ({len(found)} valid)" in done.stdout


def test_an_object_inside_is_found_by_its_id(tmp_path):
    """The child that the page names is the team's Namespace, and can be patched."""
    (child,) = re.findall(r'`(space\.node\.find_child\("[^"]+"\))`', page.text(PAGE))
    patch = f'{child}.add_json_patch(cdk8s.JsonPatch.add("/metadata/labels/own", "yes"))\napp.synth()'
    run(tmp_path, FILES["main.py"].replace("app.synth()", patch))
    (namespace,) = [item for item in objects(tmp_path / "dist") if item["kind"] == "Namespace"]
    assert namespace["metadata"]["labels"]["own"] == "yes"


def test_props_of_the_page_are_those_of_the_constructs():
    """The table names every construct of the face, and props that it takes."""
    rows = re.findall(r"^\| `(\w+)` \|[^|]+\| (.+) \|$", page.text(PAGE), re.MULTILINE)
    assert {name for name, _ in rows} == TEN <= set(constructs.__all__)
    for name, props in rows:
        construct = getattr(constructs, name)
        taken = set(construct.__init__.__annotations__)
        if name == "TrainingRun":
            taken = set(resolve_run.__annotations__)
        assert set(re.findall(r"`(\w+)`", props)) == taken - {"return", "scope", "id_", "without"}, name
        assert construct.__doc__


@pytest.fixture
def repository(tmp_path):
    """A small repository with the programs of the page."""
    (tmp_path / ".tools").symlink_to(ROOT / ".tools")
    write_repository(tmp_path, clusters={"demo": CLUSTER}, jobs={})
    for name, text in FILES.items():
        if name.startswith("platform/extra/"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
    return tmp_path


def test_programs_add_to_the_tree(repository):
    """Their objects come out beside ours, with the program as their origin, and are allowed by Argo CD's projects."""
    done = call(repository, "synth")
    assert done.returncode == 0, done.stderr
    tree = repository / "generated" / "demo"
    note = yaml.safe_load((tree / "platform/configmap.pools.yaml").read_text())
    quota = yaml.safe_load((tree / "teams/nlp/resourcequota.bounds.yaml").read_text())
    assert note["data"] == {"cpu": "4", "gpu": "4"}
    assert quota["spec"] == {"hard": {"pods": "80"}}
    assert "platform/extra/demo/platform/inventory.py" in (tree / index_file("platform")).read_text()
    assert call(repository, "synth", "--check").returncode == 0


@pytest.mark.go
@pytest.mark.slow
def test_what_programs_add_is_checked(repository):
    """Nothing is wrong with what the page adds; a wrong field is found, at the program that wrote it."""
    assert call(repository, "synth").returncode == 0
    assert call(repository, "validate").returncode == 0
    program = repository / "platform/extra/demo/teams/nlp/bounds.py"
    program.write_text(program.read_text().replace('"hard"', '"hart"'))
    assert call(repository, "synth").returncode == 0
    done = call(repository, "validate")
    assert done.returncode == 1
    assert "unknown field 'hart'" in done.stdout
    assert "platform/extra/demo/teams/nlp/bounds.py" in done.stdout

"""The wheel works outside this repository: it judges any YAML, and begins a repository of one's own that passes."""

from __future__ import annotations

import json
import subprocess
import sys
import venv

import pytest

from conftest import ROOT
from repo import ENV

PINNED = {**ENV, "PIP_CONSTRAINT": str(ROOT / "constraints.txt")}
GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"
BAD = GOOD.replace("v1", "kueue.x-k8s.io/v1beta2").replace("ConfigMap", "LocalQueue") + "spec: {clusterQueu: c}\n"


def run(*command, cwd, check=True):
    """Run a command as a user would, outside this repository."""
    done = subprocess.run(
        [str(each) for each in command], cwd=cwd, env=PINNED, capture_output=True, text=True, check=False
    )
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    return next(folder.glob("*.whl"))


@pytest.mark.slow
def test_wheel_judges_any_yaml(wheel, tmp_path):
    """With the base install alone in an empty environment, `validate` finds schemas in its package data."""
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    assert "cdk8s" not in run(python, "-m", "pip", "list", cwd=tmp_path).stdout
    (tmp_path / "some.yaml").write_text(GOOD + "---\n" + BAD)
    done = run(tmp_path / "env/bin/trainyard", "validate", "some.yaml", "-o", "json", cwd=tmp_path, check=False)
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert [each["verdict"] for each in report["objects"]] == ["valid", "invalid"]
    assert report["findings"][0]["message"] == "unknown field 'clusterQueu'; did you mean 'clusterQueue'?"


@pytest.mark.slow
@pytest.mark.node
def test_repository_of_ones_own_passes(wheel, tmp_path):
    """`trainyard init`, then `make synth` and `make check` there, with nothing but the wheel."""
    run(sys.executable, "-m", "trainyard", "init", "mine", cwd=tmp_path)
    mine = tmp_path / "mine"
    install = f"TRAINYARD={wheel}[synth]"
    run("make", "synth", install, f"PYTHON={sys.executable}", cwd=mine)
    assert list(mine.glob("generated/dev/runs/research/hello-*/jobset.*.yaml"))
    assert "0 errors" in run("make", "check", install, cwd=mine).stdout
    job = mine / "jobs" / "research" / "hello.yaml"
    job.write_text(job.read_text() + "maxHours: 2\n")
    assert run("make", "check", install, cwd=mine, check=False).returncode != 0


def test_init_says_commands_that_can_be_pasted(tmp_path):
    """A folder with a space is quoted, and editors find the schemas that the first lines of the files name."""
    done = run(sys.executable, "-m", "trainyard", "init", "größe a", cwd=tmp_path)
    assert "cd 'größe a' && make synth" in done.stdout
    written = list((tmp_path / "größe a").rglob("*.yaml"))
    assert len(written) == 4
    for path in written:
        schema = path.read_text(encoding="utf-8").partition("$schema=")[2].splitlines()[0]
        assert (path.parent / schema).is_file()


def test_init_never_overwrites(tmp_path):
    """A folder that holds one of the files is left as it is."""
    (tmp_path / "Makefile").write_text("mine")
    done = run(sys.executable, "-m", "trainyard", "init", ".", cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert done.stderr == "trainyard: Makefile exists already; choose an empty folder\n"
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]

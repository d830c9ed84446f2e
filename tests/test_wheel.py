"""The wheel works outside this repository: it judges any YAML, and begins a repository of one's own that passes."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from importlib.metadata import distribution

import pytest

from conftest import ROOT
from repo import ENV, Repo
from tool import tool

PINNED = {**ENV, "PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "PIP_NO_COMPILE": "1"}
GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"
BAD = GOOD.replace("v1", "kueue.x-k8s.io/v1beta2").replace("ConfigMap", "LocalQueue") + "spec: {clusterQueu: c}\n"


def run(*command, cwd, check=True, **env):
    """Run a command as a user would, outside this repository."""
    done = subprocess.run(
        [str(item) for item in command], cwd=cwd, env=PINNED | env, capture_output=True, text=True, check=False
    )
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    return next(folder.glob("*.whl"))


def linked(folder, *options):
    """Make a folder of the packages that an installation needs, which pip finds there instead of downloading them."""
    folder.mkdir()
    for line in tool("closure.py", *options).stdout.splitlines():
        found = distribution(line.partition("==")[0])
        for top in {path.parts[0] for path in found.files or ()} - {"..", "__pycache__"}:
            (folder / top).symlink_to(found.locate_file(top))


@pytest.mark.slow
def test_wheel_judges_any_yaml(wheel, tmp_path):
    """With the base install alone in an empty environment, `validate` finds its schemas, and `init` its own wheel."""
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    linked(tmp_path / "packages")
    path = str(tmp_path / "packages")
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path, PYTHONPATH=path)
    program = tmp_path / "env/bin/trainyard"
    (tmp_path / "some.yaml").write_text(GOOD + "---\n" + BAD)
    done = run(program, "validate", "some.yaml", "-o", "json", cwd=tmp_path, check=False, PYTHONPATH=path)
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert [item["verdict"] for item in report["objects"]] == ["valid", "invalid"]
    assert report["findings"][0]["message"] == "unknown field 'clusterQueu'; did you mean 'clusterQueue'?"
    assert "wrote 15 files to own" in run(program, "init", "own", cwd=tmp_path, PYTHONPATH=path).stdout
    assert (tmp_path / "own" / "install" / wheel.name).read_bytes() == wheel.read_bytes()
    done = run(program, "synth", "--root", "own", cwd=tmp_path, check=False, PYTHONPATH=path)
    again = f"pip install 'trainyard-gitops[synth] @ {wheel.as_uri()}'"
    assert (done.returncode, done.stderr) == (
        2,
        f"trainyard: rendering needs cdk8s and Node; install the extra: {again}\n",
    )


@pytest.mark.slow
@pytest.mark.node
def test_repository_of_ones_own_passes(wheel, tmp_path):
    """`init`, `make synth`, a commit, a job and `make check` there, with nothing but the wheel, as it was pinned."""
    run(sys.executable, "-m", "trainyard", "init", "mi ne", "--wheel", wheel, cwd=tmp_path)
    mine = Repo(tmp_path / "mi ne")
    linked(tmp_path / "packages", "--extra", "synth")

    def make(target, *, check=True):
        path = str(tmp_path / "packages")
        return run("make", f"PYTHON={sys.executable}", target, cwd=mine.root, check=check, PYTHONPATH=path)

    make("synth")
    assert list(mine.root.glob("generated/dev/runs/research/hello-*/jobset.*.yaml"))
    mine.commit()
    assert not mine.git("ls-files", ".venv", ".tools", ".cache")
    assert "0 errors" in make("check").stdout
    mine.put("jobs/research/again.yaml", (mine.root / "jobs/research/hello.yaml").read_text() + "maxHours: 2\n")
    assert "3 files differ from the specs" in make("check", check=False).stdout
    make("synth")
    assert "research/again" in make("plan").stdout
    (copy,) = mine.root.glob("install/*.whl")
    copy.write_bytes(copy.read_bytes() + b"x")
    (mine.root / "install/trainyard.txt").touch()
    assert "DO NOT MATCH THE HASHES" in make("synth", check=False).stderr

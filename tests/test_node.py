"""Node is started where objects are rendered, and nowhere else."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT
from sources import package

STATEMENTS = {
    "kinds": "import trainyard.render.kinds; trainyard.render.kinds.kinds()",
    "operators": "import trainyard.render.operators; trainyard.render.operators.operators()",
    "a cluster's folders": "import trainyard.render.clusters",
    "checking specs": (
        "from trainyard.judge import preflight; from pathlib import Path; preflight.check_repository(Path())"
    ),
    "a run's objects": (
        "from pathlib import Path; from trainyard.judge import preflight; from trainyard.render import kinds"
        "; [list(kinds.build(run)) for run in preflight.check_repository(Path()).runs]"
    ),
    "plan": "import trainyard.change.plan",
    "validate": (
        "from trainyard.faces.cli import main; main(['validate', '--cluster', 'kind'])"
        "; assert 'trainyard.judge.checks.repository' in sys.modules"
    ),
    "explain": "from trainyard.faces.cli import main; main(['explain', 'nlp/llama3-8b'])",
    "a new job that is refused": (
        "from trainyard.faces.cli import main"
        "; main('new job nlp/x --cluster kind --image a:latest --program a.py --queue laptop --pool cpu'.split())"
    ),
}
SCRIPT = """
import json, sys
started = {}
for name, statement in json.load(sys.stdin).items():
    try:
        exec(statement, {"sys": sys})
    except SystemExit:
        pass
    started[name] = sorted({"cdk8s", "constructs", "jsii"} & set(sys.modules))
with open(sys.argv[1], "w") as file:
    json.dump(started, file)
"""


@pytest.fixture(scope="module")
def started(tmp_path_factory) -> dict[str, list[str]]:
    """What of cdk8s is there after each statement, and after all before it, in one process."""
    answer = tmp_path_factory.mktemp("node") / "started.json"
    env = {"PYTHONPATH": "platform", "XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"]}
    command = [sys.executable, "-c", SCRIPT, str(answer)]
    done = subprocess.run(command, cwd=ROOT, env=env, input=json.dumps(STATEMENTS), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(answer.read_text())


@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_needs_no_node_does_not_start_it(statement, started):
    """Who checks, judges, plans or explains needs no Node, and does not wait for it."""
    assert started[statement] == []


def test_one_package_knows_cdk8s_and_one_module_that_package():
    """Only constructs import it, and of ours only the folders of synth import constructs."""
    known: dict[str, set[str]] = {"cdk8s": set(), "trainyard.change.constructs": set()}
    for path, module in package().items():
        for name, users in known.items():
            if any(f"{imported}.".startswith(f"{name}.") for imported in module.imports):
                users.add(path)
    assert {path.rpartition("/")[0] for path in known["cdk8s"]} == {"change/constructs"}
    users = known["trainyard.change.constructs"]
    assert {path for path in users if not path.startswith("change/constructs/")} == {
        "constructs.py",
        "change/synth/render/folders.py",
        "change/synth/render/programs.py",
    }


FACES = {f"trainyard.{name}" for name in ("kinds", "launchers", "operators", "checks", "constructs")}
"""Public names for other people's code."""


def test_modules_of_ours_do_without_the_public_names():
    """Modules import from the wings; the public names import from there, too, and nobody here needs them."""
    assert not [path for path, module in package().items() if "/" in path and module.imports & FACES]

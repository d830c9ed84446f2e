"""Node is started where objects are rendered, and nowhere else."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from conftest import ROOT

PACKAGE = ROOT / "platform" / "trainyard"

STATEMENTS = {
    "kinds": "import trainyard.kinds; trainyard.kinds.kinds()",
    "operators": "import trainyard.operators; trainyard.operators.operators()",
    "a cluster's folders": "import trainyard.clusters",
    "checking specs": "from trainyard import preflight; from pathlib import Path; preflight.check_repository(Path())",
    "a run's objects": (
        "from pathlib import Path; from trainyard import kinds, preflight"
        "; [list(kinds.build(run)) for run in preflight.check_repository(Path()).runs]"
    ),
    "explain": "from trainyard.cli import main; main(['explain', 'nlp/llama3-8b'])",
    "a new job that is refused": (
        "from trainyard.cli import main"
        "; main('new job nlp/x --cluster kind --image a:latest --program a.py --queue laptop --pool cpu'.split())"
    ),
}
TAIL = "found = {'cdk8s', 'constructs', 'jsii'} & set(sys.modules)\nsys.stderr.write(f'started: {sorted(found)}')\n"


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_what_needs_no_node_does_not_start_it(statement):
    """Who checks or explains needs no Node, and does not wait for it."""
    script = f"import sys\ntry:\n    {statement}\nexcept SystemExit:\n    pass\n{TAIL}"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env={"PYTHONPATH": "platform"}, capture_output=True, text=True
    )
    assert done.stderr.endswith("started: []"), done.stderr


def imported(path: object, text: str) -> set[str]:
    """Return every module that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return found


def test_one_package_knows_cdk8s_and_one_module_that_package():
    """Only constructs import it, and of ours only the folders of synth import constructs."""
    known: dict[str, set[str]] = {"cdk8s": set(), "trainyard.constructs": set()}
    for path in sorted(PACKAGE.rglob("*.py")):
        modules = imported(path, path.read_text("utf-8"))
        for name, users in known.items():
            if any(f"{module}.".startswith(f"{name}.") for module in modules):
                users.add(path.relative_to(PACKAGE).as_posix())
    assert {each.partition("/")[0] for each in known["cdk8s"]} == {"constructs"}
    assert {each for each in known["trainyard.constructs"] if not each.startswith("constructs/")} == {
        "synth/render/folders.py",
        "synth/render/programs.py",
    }

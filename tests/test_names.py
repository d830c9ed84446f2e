"""The names that code uses: items of loops, functions, and the sentences that say what a function returns."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("platform", "tools", "policies")

PARTICIPLES = frozenset(
    {
        "asked",
        "beside",
        "found",
        "given",
        "held",
        "kept",
        "known",
        "listed",
        "made",
        "named",
        "own",
        "said",
        "seen",
        "shown",
        "taken",
        "told",
        "wanted",
        "whole",
        "without",
        "written",
        "wrong",
    }
)
"""Words that name no action and no thing: a reader of `told(findings)` cannot guess what comes back."""

EXCEPTIONS: dict[str, str] = {}
"""Functions that may have such a name, as `path:name`, each with its reason."""

CLEAN = tuple(f"platform/trainyard/{wing}/" for wing in ("base/system", "specs", "judge/checks", "change", "faces"))
"""Folders whose methods are held to the same."""

RIDDLES = ("Return what", "Yield what")
"""Beginnings of sentences that leave the noun out; better: `Return the CPUs that daemons request on a node`."""

MODULES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def variables(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that bind the items of loops, comprehensions and lambdas."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield from ast.walk(node.target)
        elif isinstance(node, ast.Lambda):
            yield from node.args.args


def functions(tree: ast.Module) -> Iterator[Function]:
    """Yield the public functions of a module."""
    return (node for node in tree.body if isinstance(node, Function) and not node.name.startswith("_"))


def definitions(tree: ast.AST) -> Iterator[Function | ast.ClassDef]:
    """Yield all functions, methods and classes of a module."""
    return (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)))


def loops_without_a_noun(tree: ast.AST) -> list[int]:
    """Return the lines of loops whose item is called `each`."""
    return sorted(
        node.lineno
        for node in variables(tree)
        if (isinstance(node, ast.Name) and node.id == "each") or (isinstance(node, ast.arg) and node.arg == "each")
    )


def participles(tree: ast.Module) -> list[str]:
    """Return the public functions whose name is a bare participle."""
    return [function.name for function in functions(tree) if function.name in PARTICIPLES]


def vague_methods(tree: ast.AST) -> list[str]:
    """Return the methods whose name is a bare participle."""
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    methods = (node for one_class in classes for node in one_class.body if isinstance(node, Function))
    return [method.name for method in methods if method.name in PARTICIPLES]


def riddles(tree: ast.AST) -> list[str]:
    """Return the functions and classes whose docstring begins without a noun."""
    return [node.name for node in definitions(tree) if (ast.get_docstring(node) or "").startswith(RIDDLES)]


def silent(tree: ast.Module) -> list[str]:
    """Return the public functions without a docstring."""
    return [function.name for function in functions(tree) if not ast.get_docstring(function)]


@pytest.mark.parametrize(
    ("find", "text"),
    {
        "a loop": (loops_without_a_noun, "for each in pods: pass"),
        "a loop over pairs": (loops_without_a_noun, "[each for _, each in pods]"),
        "a lambda": (loops_without_a_noun, "sorted(pods, key=lambda each: each.name)"),
        "a participle": (participles, "def told(findings): ..."),
        "a participle of a method": (vague_methods, "class Job:\n    @property\n    def held(self): ..."),
        "a riddle of a function": (riddles, 'def pods():\n    """Return what a job has."""'),
        "a riddle of a method": (riddles, 'class Job:\n    def pods(self):\n        """Yield what it has."""'),
        "no docstring": (silent, "def pods(job): ..."),
    }.values(),
)
def test_a_bad_name_is_found(find, text):
    """Each of these checks sees the fault that it is for."""
    assert find(ast.parse(text))


@pytest.mark.parametrize("path", MODULES)
def test_loops_name_their_item(path):
    """A loop says what its item is: a pod, a finding, a queue."""
    assert not loops_without_a_noun(MODULES[path])


def test_functions_are_verbs_or_nouns():
    """A public function is named by what it does or by what it returns."""
    found = {f"{path}:{name}" for path, tree in MODULES.items() for name in participles(tree)}
    assert found == EXCEPTIONS.keys()


@pytest.mark.parametrize("path", [path for path in MODULES if path.startswith(CLEAN)])
def test_methods_are_verbs_or_nouns(path):
    """So is a method, and what a property is called."""
    assert not vague_methods(MODULES[path])


@pytest.mark.parametrize("path", MODULES)
def test_docstrings_name_what_comes_back(path):
    """A docstring begins with a noun or an action, and every public function has one."""
    assert not riddles(MODULES[path])
    assert not silent(MODULES[path])

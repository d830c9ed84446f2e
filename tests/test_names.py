"""The names that code uses: items of loops, functions, and the sentences that say what a function returns."""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from sources import beneath, trees

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

Function = ast.FunctionDef | ast.AsyncFunctionDef


def variables(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that bind the items of loops, comprehensions and lambdas."""
    for node in beneath(tree):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield from beneath(node.target)
        elif isinstance(node, ast.Lambda):
            yield from node.args.args


def functions(tree: ast.Module) -> Iterator[Function]:
    """Yield the public functions of a module."""
    return (node for node in tree.body if isinstance(node, Function) and not node.name.startswith("_"))


def definitions(tree: ast.AST) -> Iterator[Function | ast.ClassDef]:
    """Yield all functions, methods and classes of a module."""
    return (node for node in beneath(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)))


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
    classes = (node for node in beneath(tree) if isinstance(node, ast.ClassDef))
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


CHECKS = (loops_without_a_noun, participles, vague_methods, riddles, silent)


@cache
def faults() -> dict[str, dict[str, list[Any]]]:
    """Return by check and module what is found, an empty list where nothing is."""
    found: dict[str, dict[str, list[Any]]] = {check.__name__: {} for check in CHECKS}
    for path, tree in trees(*FOLDERS):
        for check in CHECKS:
            found[check.__name__][path] = check(tree)
    return found


def bad(check: Callable[..., list[Any]], folders: tuple[str, ...] = ("",)) -> dict[str, list[Any]]:
    """Return the modules of folders in which a check finds something, and what; every folder has modules."""
    found = faults()[check.__name__]
    assert all(any(path.startswith(folder) for path in found) for folder in (*FOLDERS, *folders))
    return {path: lines for path, lines in found.items() if lines and path.startswith(folders)}


def test_loops_name_their_item():
    """A loop says what its item is: a pod, a finding, a queue."""
    assert bad(loops_without_a_noun) == {}


def test_functions_are_verbs_or_nouns():
    """A public function is named by what it does or by what it returns."""
    found = {f"{path}:{name}" for path, names in bad(participles).items() for name in names}
    assert found == EXCEPTIONS.keys()


def test_methods_are_verbs_or_nouns():
    """So is a method, and what a property is called."""
    assert bad(vague_methods, CLEAN) == {}


def test_docstrings_name_what_comes_back():
    """A docstring begins with a noun or an action."""
    assert bad(riddles) == {}


def test_public_functions_have_a_docstring():
    """Every public function has one."""
    assert bad(silent) == {}

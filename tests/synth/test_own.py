"""Objects of one's own: whole, once on a cluster, and what is wrong with programs is told at once, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import Done, call
from make import write_repository

EXTRA = "platform/extra/test"
HEAD = "import cdk8s\n\ndef build(scope, cluster):\n"
ADD = "    cdk8s.ApiObject({scope}, '{id}', api_version='v1', kind='ConfigMap', metadata={{'namespace': 'nlp'}})\n"


def config_map(name: str) -> str:
    """Return a ConfigMap as YAML."""
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: nlp\n"


def program(id_: str, scope: str = "scope") -> str:
    """Return a program that adds a ConfigMap, called as its file and an id."""
    return HEAD + ADD.format(scope=scope, id=id_)


def synth(root: Path, **texts: str) -> Done:
    """Render a small repository with these files of its own, whose names have `_` for `/`."""
    write_repository(root, jobs={})
    for name, text in texts.items():
        folder, _, stem = name.rpartition("_")
        path = root / EXTRA / folder.replace("_", "/") / f"{stem}.{'py' if 'build' in text or '/' in text else 'yaml'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return call(root, "synth")


def said(done: Done) -> list[str]:
    """Return the findings about objects of one's own."""
    return [line for line in (done.stdout + done.stderr).splitlines() if "[spec/extra" in line]


OBJECTS: dict[str, tuple[dict[str, str], str]] = {
    "two files of one folder": (
        {"platform_a": config_map("x"), "platform_b": config_map("x")},
        "platform/b.yaml:4:9: error: object ConfigMap 'x' of namespace 'nlp' is also in {extra}/platform/a.yaml",
    ),
    "two folders of one cluster": (
        {"platform_a": config_map("x"), "teams_nlp_b": config_map("x")},
        "teams/nlp/b.yaml:4:9: error: object ConfigMap 'x' of namespace 'nlp' is also in {extra}/platform/a.yaml",
    ),
    "a List": (
        {"platform_a": "apiVersion: v1\nkind: List\nitems: []\n"},
        "platform/a.yaml:1:1: error: the object has no metadata.name; add it",
    ),
    "no object at all": (
        {"platform_a": "- x\n"},
        "platform/a.yaml:1:1: error: the document is not an object with apiVersion, kind and metadata",
    ),
    "a file and a program": (
        {"platform_a": config_map("b-x"), "platform_b": program("x")},
        "platform/b.py:3:1: error: object ConfigMap 'b-x' of namespace 'nlp' is also in {extra}/platform/a.yaml",
    ),
    "one name in one program": (
        {"platform_a": program("x") + ADD.format(scope="scope", id="y").replace("}", ", 'name': 'a-x'}")},
        "platform/a.py:3:1: error: object ConfigMap 'a-x' of namespace 'nlp' is defined twice; keep one of them",
    ),
    "one of Trainyard's in another folder": (
        {"platform_a": config_map("x").replace("ConfigMap", "Namespace").replace("x\n  namespace: ", "")},
        "platform/a.yaml:4:9: error: object Namespace 'nlp' is already in folder 'teams/nlp'; remove it",
    ),
}


@pytest.mark.node
@pytest.mark.slow
@pytest.mark.parametrize(("texts", "message"), OBJECTS.values(), ids=OBJECTS)
def test_an_object_is_whole_and_there_once(tmp_path, texts, message):
    """Whatever makes it, one sentence says what is wrong, and nothing is written; validate says it of plain ones."""
    done = synth(tmp_path, **texts)
    (line,) = said(done)
    assert line.startswith(f"{EXTRA}/{message.format(extra=EXTRA)}")
    assert done.returncode == 1
    assert not (tmp_path / "generated").exists()
    if not any("build" in text for text in texts.values()):
        judged = call(tmp_path, "validate")
        assert (said(judged), judged.returncode) == ([line], 1)


PROGRAMS = {
    "raises": (
        HEAD + "    x = 1\n    raise ValueError('no\\nway')\n",
        "5:1: error: program stopped with ValueError: no way",
    ),
    "raises-at-once": ("build = 1 / 0\n", "1:1: error: program stopped with ZeroDivisionError: division by zero"),
    "exits": ("import sys\nsys.exit('build')\n", "2:1: error: program stopped with SystemExit: build"),
    "syntax": ("x = 1\ndef build(:\n", "2:11: error: program stopped with SyntaxError: invalid syntax"),
    "narrow": ("x = 1\n\ndef build(scope):\n    pass\n", "3:1: error: build(scope) must be build(scope, cluster)"),
    "without": ("# no build\n", "1:1: error: program has no function build(scope, cluster); write one"),
    "awaited": (
        "async def build(scope, cluster):\n    pass\n",
        "1:1: error: build is async, but nothing waits for it; write def build(scope, cluster)",
    ),
    "value": ("build = 5\n", "1:1: error: program has no function build(scope, cluster); write one"),
    "empty": (
        "def build(scope, cluster):\n    return [cluster]\n",
        "1:1: error: build adds no object to scope; add one, or remove the program",
    ),
    "twice": (
        HEAD + 2 * ADD.format(scope="scope", id="x"),
        "5:1: error: program stopped with RuntimeError: There is already a Construct with name 'x' in Chart [twice]",
    ),
    "wrong-type": (HEAD + "    cdk8s.ApiObject(scope, 'x', kind=5)\n", "4:1: error: program stopped with TypeError: "),
}


@pytest.mark.node
@pytest.mark.slow
def test_everything_wrong_with_programs_is_told_at_once(tmp_path):
    """Each at its line, those of teams too; the good ones beside them are not written either."""
    texts = {f"platform_{name}": text for name, (text, _) in PROGRAMS.items()}
    done = synth(tmp_path, **texts, teams_nlp_broken="build = 1 / 0\n", platform_good=program("x"))
    found = said(done)
    expected = sorted(f"{EXTRA}/platform/{name}.py:{message}" for name, (_, message) in PROGRAMS.items())
    assert len(found) == len(expected) + 1
    for line, start in zip(sorted(found), expected, strict=False):
        assert line.startswith(start)
    assert done.returncode == 1
    assert not (tmp_path / "generated").exists()


@pytest.mark.node
@pytest.mark.slow
def test_objects_of_charts_inside_are_added_too(tmp_path):
    """A program may lay its objects out in charts of its own."""
    done = synth(
        tmp_path, teams_nlp_a=program("x", scope="cdk8s.Chart(scope, 'inner', disable_resource_name_hashes=True)")
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "generated/test/teams/nlp/configmap.a-inner-x.yaml").is_file()

"""Images of the programs: no root, nothing that moves, and every file that a program needs."""

from __future__ import annotations

import ast
import re

import pytest

from ranks import PROGRAMS

IMAGES = sorted(PROGRAMS.glob("*.Dockerfile"))

BAD = {
    "root at the end": ("USER 1000:1000", "USER root", "the last user is 'root', not a number above 0"),
    "a user by name": ("USER 1000:1000", "USER trainer", "the last user is 'trainer', not a number above 0"),
    "a base that moves": ("FROM ${BASE}\n", "FROM python:latest\n", "FROM python:latest is not the BASE that is given"),
    "a download": ("WORKDIR", "ADD https://example.com/a /a\nWORKDIR", "ADD is not reproducible"),
    "a piece of code left out": ("keeper.py ", "", "ddp.py imports keeper, which is not copied"),
    "a file that is not there": ("keeper.py ", "keeper.py none.py ", "none.py does not exist"),
}


def steps(text):
    """Each instruction of a Dockerfile with its words."""
    lines = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    return [line.split(maxsplit=1) for line in lines if line.strip()]


def imported(path):
    """The modules of the programs' folder that one of them imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    return {name for name in names if (PROGRAMS / f"{name}.py").exists()}


def wrong(text):
    """Yield what is wrong with a Dockerfile."""
    users, copied = ["root"], []
    for word, rest in steps(text):
        if word == "FROM" and rest.split()[0] != "${BASE}":
            yield f"FROM {rest} is not the BASE that is given"
        if word == "ADD":
            yield "ADD is not reproducible"
        if word == "USER":
            users.append(rest)
        if word == "COPY" and not rest.startswith("--from="):
            copied += rest.split()[:-1]
    if not re.fullmatch(r"[1-9]\d*(:[1-9]\d*)?", users[-1]):
        yield f"the last user is {users[-1]!r}, not a number above 0"
    for name in copied:
        if not (PROGRAMS / name).exists():
            yield f"{name} does not exist"
            continue
        for module in sorted(imported(PROGRAMS / name)):
            if f"{module}.py" not in copied:
                yield f"{name} imports {module}, which is not copied"


@pytest.mark.parametrize("image", IMAGES, ids=lambda path: path.name)
def test_an_image_is_reproducible_and_not_root(image):
    """A base that is given by digest, a numeric user, no downloads by ADD, and all of a program's own modules."""
    assert list(wrong(image.read_text())) == []
    assert f"--file {image.name} " in image.read_text()


@pytest.mark.parametrize(("before", "after", "found"), BAD.values(), ids=BAD)
def test_what_is_wrong_with_an_image_is_found(before, after, found):
    """The test above sees each of its faults."""
    text = (PROGRAMS / "ddp.Dockerfile").read_text()
    assert before in text
    assert found in list(wrong(text.replace(before, after, 1)))


def test_every_program_has_an_image():
    """Whatever can be started is copied into some image."""
    programs = [path.name for path in PROGRAMS.glob("*.py") if "__main__" in path.read_text()]
    copied = " ".join(rest for image in IMAGES for word, rest in steps(image.read_text()) if word == "COPY")
    assert len(programs) >= 5
    assert [name for name in programs if name not in copied.split()] == []

"""Makefile of a repository of one's own, or one that another Makefile includes, whose names collide with nothing."""

from __future__ import annotations

import re
from pathlib import Path

from trainyard.base.limits import MIB

MAKEFILE, PREFIX = "Makefile", "trainyard-"

NAME = re.compile(r"(?!(?:GNUm|m)akefile\Z)[A-Za-z0-9_][\w.-]*", re.ASCII)
"""A name in the folder itself that needs no quotes in make and a shell, and that make does not read by itself."""

TARGETS = ("help", "setup", "synth", "plan", "check")
TARGET = re.compile(rf"(?m)^({'|'.join(TARGETS)})(?=:)")
VARIABLE = re.compile(r"\b(PYTHON|BIN|RUN|READY|PIP|ARGS)\b(?=\)| \?= | := |=/)")
GLOBAL = re.compile(r"(?m)^(?:SHELL|\.DEFAULT_GOAL) .*\n")
"""What would count for the Makefile that includes this one."""
CALL = re.compile(rf"\bmake ({'|'.join(TARGETS)})\b")
PROGRAM_CALL = re.compile(r"\bmake (synth|plan|check)\b")
SETUP_STEP = re.compile(r"(?m)^(?P<indent> *)(?P<key>- |run: )make setup$")
INSTALL = (
    "python3 -m venv .venv",
    ".venv/bin/python -P -m pip install --require-hashes --no-deps --requirement install/trainyard.txt",
    ".venv/bin/python -P -m pip install --require-hashes --no-deps --requirement install/requirements.txt",
)
"""What the target `setup` does, for who has no make."""
KUBECONFORM = (
    "command -v kubeconform || .venv/bin/python -P -m trainyard.base.system.kubeconform .tools/bin || "
    "echo 'kubeconform is missing, so one schema engine checks instead of two' >&2"
)
LONGEST = len(f"{PREFIX}setup")


def wrong_name(name: str) -> str | None:
    """Return the problem of a name for a makefile."""
    if NAME.fullmatch(name) is None:
        return f"makefile {name!r} must be a file in the folder itself, as in trainyard.mk"
    return None


def included(text: str, name: str) -> str:
    """Return a Makefile as another one includes it: with targets, variables and a name of its own."""
    head, _, rest = text.partition("\n")
    text = f"# `make -f {name} {PREFIX}help` lists the targets.\n{rest}" if head.startswith("# ") else text
    text = GLOBAL.sub("", VARIABLE.sub(r"TRAINYARD_\1", TARGET.sub(rf"{PREFIX}\1", text)))
    text = text.replace(": Makefile install/", f": {name} install/").replace("$(MAKEFILE_LIST)", name)
    text = text.replace("check: setup", f"check: {PREFIX}setup").replace("%-10s", f"%-{LONGEST}s")
    phony = f".PHONY: {' '.join(TARGETS)}"
    return text.replace(phony, f".PHONY: {' '.join(PREFIX + target for target in TARGETS)}")


def called(text: str, name: str | None) -> str:
    """Return a text whose commands call the targets of a makefile by their names there, or do without one."""
    if name is None:
        return PROGRAM_CALL.sub(r".venv/bin/trainyard \1", SETUP_STEP.sub(setup_step, text))
    return text if name == MAKEFILE else CALL.sub(rf"make -f {name} {PREFIX}\1", text)


def setup_step(found: re.Match[str]) -> str:
    """Return the step of a pipeline that installs without make, in the form of the one that it stands for."""
    indent, key = found["indent"], found["key"]
    commands = [*INSTALL, KUBECONFORM]
    if key == "- ":
        return "\n".join(f"{indent}- {command}" for command in commands)
    return "\n".join([f"{indent}{key}|", *(f"{indent}  {command}" for command in commands)])


def makefile_of(folder: Path) -> str | None:
    """Return the name of the makefile that a repository has from us, None for none."""
    for path in sorted(folder.iterdir(), key=lambda path: path.name != MAKEFILE):
        if NAME.fullmatch(path.name) and path.is_file() and path.stat().st_size < MIB:
            target = "" if path.name == MAKEFILE else PREFIX
            if re.search(rf"(?m)^{target}synth:".encode(), path.read_bytes()):
                return path.name
    return None

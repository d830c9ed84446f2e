"""Makefile of a repository of one's own, or one that another Makefile includes, whose names collide with nothing."""

from __future__ import annotations

import re

MAKEFILE, PREFIX = "Makefile", "trainyard-"

NAME = re.compile(r"(?!(?:GNUm|m)akefile\Z)[A-Za-z0-9_][\w.-]*", re.ASCII)
"""A name in the folder itself that needs no quotes in make and a shell, and that make does not read by itself."""

TARGETS = ("help", "setup", "synth", "plan", "check")
TARGET = re.compile(rf"(?m)^({'|'.join(TARGETS)})(?=:)")
VARIABLE = re.compile(r"\b(PYTHON|BIN|RUN|READY|PIP|ARGS)\b(?=\)| \?= | := |=/)")
GLOBAL = re.compile(r"(?m)^(?:SHELL|\.DEFAULT_GOAL) .*\n")
"""What would count for the Makefile that includes this one."""
CALL = re.compile(rf"\bmake ({'|'.join(TARGETS)})\b")
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


def called(text: str, name: str) -> str:
    """Return a text whose commands call the targets of a makefile by their names there."""
    return text if name == MAKEFILE else CALL.sub(rf"make -f {name} {PREFIX}\1", text)

"""`$(NAME)` in commands, arguments and variables, as Kubernetes expands it.

Facts: kubernetes v1.35 third_party/forked/golang/expansion/expand.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.faces.local.controllers.base import RunError

MOST = 1 << 20
"""Characters of an expanded text: variables that name each other twice double with each one."""


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with references replaced; unknown ones stay as they are.

    `$$` is one `$` that refers to nothing. What is replaced is not looked at again. Raises RunError for a text that
    comes to more than MOST.
    """
    found: list[str] = []
    at = size = 0
    while at < len(text):
        if text[at] != "$" or at + 1 == len(text):
            found.append(text[at])
            at += 1
        elif text[at + 1] == "$":
            found.append("$")
            at += 2
        elif text[at + 1] == "(" and (end := text.find(")", at)) > 0:
            name = text[at + 2 : end]
            found.append(variables.get(name, f"$({name})"))
            at = end + 1
        elif text[at + 1] == "(":
            found.append("$(")
            at += 2
        else:
            found.append(text[at : at + 2])
            at += 2
        size += len(found[-1])
        if size > MOST:
            raise RunError(f"text {text[:40]!r}... expands to more than {MOST} characters; use fewer variables")
    return "".join(found)

"""Where links of a Markdown page lead, when the page is shown somewhere else than beside the files that it names."""

from __future__ import annotations

import re
from collections.abc import Callable

FENCE = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2`*\s*?$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?:!(?=\[))?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")


def moved(text: str, lead: Callable[[str], str | None]) -> str:
    """Return a page whose links lead where `lead` says, by path and without anchor; those of None become words.

    Links to the web and within the page stay, and so does code.
    """

    def replaced(match: re.Match[str]) -> str:
        words, target = match[1], match[2]
        path, hash_, anchor = target.partition("#")
        if "://" in target or not path or target.startswith("mailto:"):
            return match[0]
        there = lead(path)
        mark = "!" if match[0].startswith("!") else ""
        return words if there is None else f"{mark}[{words}]({there}{hash_}{anchor})"

    parts, at = [], 0
    for fence in FENCE.finditer(text):
        parts += [LINK.sub(replaced, text[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*parts, LINK.sub(replaced, text[at:])])

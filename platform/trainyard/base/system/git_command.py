"""How Git is started: so that nothing in a checkout starts another program, and nothing is fetched or written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from trainyard.base.system import process

PASSED = frozenset(
    (
        *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT", "GIT_EXEC_PATH"),
        *("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_TEMPLATE_DIR"),
    )
)
"""Variables of Git that count: the user's own settings, where Git itself is, and where it looks for repositories.

Others are what it sets for its hooks, programs to start, or other places of objects; the repository is found from the
folder. `GIT_CONFIG_KEY_<n>` and `GIT_CONFIG_VALUE_<n>` go with the count.
"""

SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.pager": "cat",
    "core.sshCommand": "false",
    "core.gitProxy": "",
    "diff.external": "",
    "protocol.allow": "never",
    "protocol.ext.allow": "never",
    "protocol.file.allow": "never",
    "submodule.recurse": "false",
    "safe.bareRepository": "explicit",
}
"""What keeps a repository's own settings from starting programs, and from fetching, where it is only read.

A partial clone does not fetch what it lacks: what it would start for that is named by its settings.
Source: git v2.47 Documentation/config/{core,protocol,safe,submodule}.txt.
"""

OURS_ALONE = ("--no-pager", *(word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")))


def run(folder: Path, arguments: Sequence[str], *, stdin: bytes, settings: Mapping[str, str]) -> process.Completed:
    """Run `git` in a folder, without locks, prompts, hooks or replaced objects, and with more settings."""
    env = with_settings(environment(), settings)
    return process.run(["git", "--no-replace-objects", *OURS_ALONE, *arguments], cwd=folder, stdin=stdin, env=env)


def environment() -> dict[str, str]:
    """Return the environment of every Git that is started: without its own variables but those that count."""
    dropped = [name for name in os.environ if name.startswith("GIT_") and name not in PASSED]
    dropped = [name for name in dropped if not name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"))]
    told = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "GIT_NO_LAZY_FETCH": "1"}
    own = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull}  # an id stands for what it is the id of
    return process.environment(drop=dropped, LC_ALL="C", **told, **own)


def with_settings(variables: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with settings of Git, behind those that are in it.

    An option `-c` would end a name at its first `=`, which names of filters may have.
    """
    count = variables.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    pairs = {
        f"GIT_CONFIG_{what}_{place}": text
        for place, (name, value) in enumerate(settings.items(), start=first)
        for what, text in (("KEY", name), ("VALUE", value))
    }
    return {**variables, **pairs, **({"GIT_CONFIG_COUNT": str(first + len(settings))} if settings else {})}

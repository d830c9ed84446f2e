"""The options that a job gives its program: in its command line, in scripts, and in settings that it brings."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from trainyard.base.documents import Path
from trainyard.judge.policies.folders import MOVES, OPTION, key
from trainyard.judge.preflight.job.commands import lines
from trainyard.specs import Job
from trainyard.upstream.trainers import settings

NUMBER = re.compile(r"-\d[\w.+-]*")

Words = Sequence[tuple[Path, str]]


class Given(NamedTuple):
    """One option with one of its values, empty where it has none."""

    path: Path
    """Where in the job's file."""
    option: str
    """As it is written."""
    value: str


def program_options(job: Job, contents: Mapping[str, str]) -> list[Given]:
    """Return the options of a job's command lines, and those of its settings that no command line gives.

    Command lines that bring files elsewhere are left out.
    """
    found, named = list[Given](), dict[str, str]()
    for path, texts, _ in lines(job):
        words = [((*path, index), word) for index, text in enumerate(texts) for word in text.split()]
        named |= {posixpath.normpath(word.rpartition("=")[2].strip("\"'")): word for _, word in words}
        if not any(MOVES.search(text) for text in texts if " " in text):
            found += options(words)
    for place, file, text in brought(job, contents):
        if file in named and file.endswith(settings.SCRIPTS) and not MOVES.search(text):
            found += options([(place, word) for word in settings.words(text)])
    own = {key(item.option) for item in found}
    for place, file, text in brought(job, contents):
        if file in named and file.endswith(settings.SETTINGS):
            told = (Given(place, name, value) for name, value in settings.flat(file, text).items())
            found += [item for item in told if key(item.option) not in own]
    return found


def brought(job: Job, contents: Mapping[str, str]) -> Iterator[tuple[Path, str, str]]:
    """Yield place, path in the container and text of each small file of a job."""
    for index, file in enumerate(job.files):
        path = posixpath.normpath(f"{file.mount_path}/{file.source.rpartition('/')[2]}")
        yield ("files", index, "source"), path, contents.get(file.source, "")


def options(words: Words) -> Iterator[Given]:
    """Yield each option with each of its values: the one behind `=`, or the words up to the next option."""
    current, bare = "", list[Given]()
    for path, word in words:
        name, equals, value = word.partition("=")
        assigned = bool(equals and OPTION.fullmatch(name))
        if assigned or (word.startswith("-") and not NUMBER.fullmatch(word)):
            yield from bare
            current, bare = ("", []) if assigned else (word, [Given(path, word, "")])
            if assigned:
                yield Given(path, name, value.strip("\"'"))
        elif current:
            bare = []
            yield Given(path, current, word.strip("\"'()"))
    yield from bare

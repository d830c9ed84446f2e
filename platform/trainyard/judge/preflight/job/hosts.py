"""The hosts inside a cluster that a job names: in its command lines and variables, its own containers, its files."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trainyard.base.documents import Path
from trainyard.judge.preflight.job.commands import texts
from trainyard.specs.models.job import Job

HOST = re.compile(
    r"(?:(?:(?<=://)|(?<=@)|(?<![-\w./]))(?P<host>[A-Za-z0-9][-A-Za-z0-9.]*\.)|(?<=[)}]\.))"
    r"(?P<space>[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)\.svc(?:\.cluster\.local)?\.?(?!:53\b|[-\w.])"
)
"""A Service's name with its namespace; what stands before it may be put together by a program."""

START = r"(?:://(?:[^\s/@]*@)?|(?<![-\w.:/@]))"
END = r"(?P<port>:\d+)?(?![-\w.@])"
SHORT = re.compile(rf"{START}(?P<host>[a-z][-a-z0-9]*)\.(?P<space>[a-z][-a-z0-9]*){END}")
"""A Service's name with its namespace and nothing else: a URL's, or with a port."""

ADDRESS = re.compile(rf"{START}(?P<address>\d{{1,3}}(?:\.\d{{1,3}}){{3}}){END}")
"""An address in a URL, or with a port."""

DOMAINS = frozenset(
    (
        *("ai", "app", "cloud", "co", "com", "data", "dev", "eu", "gov", "info", "io", "live", "me", "net", "online"),
        *("org", "run", "site", "store", "systems", "tech", "tools"),
    )
)
"""Names that are those of domains of the internet, too."""

API_SERVER = ("kubernetes.", "default")


class Named(NamedTuple):
    """A host that a text names."""

    text: str
    space: str = ""
    """Its namespace; empty for an address."""
    service: str = ""
    """The name before that, as far as it is written."""


def hosts(text: str, known: frozenset[str]) -> Iterator[Named]:
    """Yield the hosts inside a cluster that a text names; a name of two words only where its namespace is known."""
    for match in HOST.finditer(text) if ".svc" in text else ():
        service = (match["host"] or "").rstrip(".").rpartition(".")[2]
        if ((match["host"] or ""), match["space"]) != API_SERVER:
            yield Named(match[0].rstrip("."), match["space"], service)
    for match in SHORT.finditer(text):
        if match["space"] in known - DOMAINS and ("://" in match[0] or match["port"]) and match["port"] != ":53":
            yield Named(f"{match['host']}.{match['space']}", match["space"], match["host"])
    for match in ADDRESS.finditer(text):
        if ("://" in match[0] or match["port"]) and match["port"] != ":53" and is_address(match["address"]):
            yield Named(match["address"])


def is_address(text: str) -> bool:
    """Whether a text is an address of IPv4."""
    try:
        return bool(ipaddress.IPv4Address(text))
    except ValueError:
        return False


def texts_of(job: Job, contents: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Yield the texts in which a job names hosts: arguments, variables, containers of its own, and small files."""
    for path, text in texts(job):
        if str(path[-1]).lower() != "no_proxy":
            yield path, text
    for field, containers in (("containers", job.containers), ("initContainers", job.init_containers)):
        for index, container in enumerate(containers):
            for part in ("command", "args"):
                words = container.get(part)
                for at, word in enumerate(words if isinstance(words, list) else ()):
                    yield (field, index, part, at), str(word)
            for at, variable in enumerate(container.get("env") or ()):
                if isinstance(variable, dict) and str(variable.get("name")).lower() != "no_proxy":
                    yield (field, index, "env", at, "value"), str(variable.get("value"))
    for index, file in enumerate(job.files):
        lines = contents.get(file.source, "").splitlines()
        yield from ((("files", index, "source"), line) for line in lines if not line.lstrip().startswith("#"))

"""URLs, as Go's net/url reads them.

Source: kubernetes/apiserver v0.35.4 pkg/cel/library/urls.go; Go 1.24 net/url.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote_from_bytes, unquote_to_bytes

from trainyard.upstream.apiserver.cel.errors import CelError
from trainyard.upstream.apiserver.cel.functions import Functions
from trainyard.upstream.apiserver.cel.values import Opaque
from trainyard.upstream.apiserver.schema import uris

FUNCTIONS = Functions()

PATH_SAFE = "$&+,/:;=@-_.~"
PATH_KEPT = frozenset(PATH_SAFE + "!'()*[]%ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL; `path` is as written, escapes included."""

    scheme: str
    host: str
    path: str
    query: str
    fragment: str

    @property
    def escaped_path(self) -> str:
        """The path with everything escaped that must be."""
        if set(self.path) <= PATH_KEPT:
            return self.path
        return quote_from_bytes(unquote_to_bytes(self.path), safe=PATH_SAFE)

    @property
    def hostname(self) -> str:
        """The host without brackets and port."""
        host = self.host
        if host.startswith("["):
            return host[1 : host.rfind("]")]
        return host.rpartition(":")[0] if ":" in host else host

    @property
    def port(self) -> str:
        """The port as written, without the colon."""
        tail = self.host[self.host.rfind("]") + 1 :] if self.host.startswith("[") else self.host
        return tail.rpartition(":")[2] if ":" in tail else ""


def parse(text: str) -> Url | None:
    """Take a URL apart that a request may have; None for others."""
    text, _, fragment = text.partition("#")
    if not uris.is_request(text) or _BAD_ESCAPE.search(fragment):
        return None
    if text == "*":
        return Url("", "", "*", "", fragment)
    match = uris.SCHEME.match(text)
    rest, _, query = text[match.end() if match else 0 :].partition("?")
    host = ""
    if match and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        host = unquote_to_bytes(authority.rpartition("@")[2]).decode(errors="replace")
        rest = slash + path
    path = rest if rest.startswith("/") else ""
    return Url(match[1].lower() if match else "", host, path, query, fragment)


@FUNCTIONS.define("url(string) -> kubernetes.URL")
def to_url(text: str) -> Opaque:
    """Read a URL."""
    url = parse(text)
    if url is None or not uris.is_request(text):
        raise CelError(f'URL parse error during conversion from string: parse "{text}": invalid URI for request')
    return Opaque("kubernetes.URL", url)


FUNCTIONS.define("isURL(string) -> bool")(uris.is_request)


def url_of(value: Opaque) -> Url:
    """Return the URL within a value."""
    assert isinstance(value.content, Url)
    return value.content


@FUNCTIONS.define("kubernetes.URL.getScheme() -> string")
def scheme_of(value: Opaque) -> str:
    """`https`."""
    return url_of(value).scheme


@FUNCTIONS.define("kubernetes.URL.getHost() -> string")
def host_of(value: Opaque) -> str:
    """Host and port, an IPv6 address in brackets."""
    return url_of(value).host


@FUNCTIONS.define("kubernetes.URL.getHostname() -> string")
def hostname_of(value: Opaque) -> str:
    """Return the host alone."""
    return url_of(value).hostname


@FUNCTIONS.define("kubernetes.URL.getPort() -> string")
def port_of(value: Opaque) -> str:
    """Return the port, or nothing."""
    return url_of(value).port


@FUNCTIONS.define("kubernetes.URL.getEscapedPath() -> string")
def path_of(value: Opaque) -> str:
    """Return the path, escaped."""
    return url_of(value).escaped_path


@FUNCTIONS.define("kubernetes.URL.getQuery() -> map<string, list<string>>")
def query_of(value: Opaque) -> dict[str, list[str]]:
    """Return the parameters; what cannot be read is left out, as Go does."""
    found: dict[str, list[str]] = {}
    for pair in url_of(value).query.split("&"):
        if not pair or ";" in pair or _BAD_ESCAPE.search(pair):
            continue
        key, _, content = (
            unquote_to_bytes(part.replace("+", " ")).decode(errors="replace") for part in pair.partition("=")
        )
        found.setdefault(key, []).append(content)
    return found

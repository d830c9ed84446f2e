"""URLs, as Go's net/url reads them.

Source: kubernetes/apiserver v0.35.4 pkg/cel/library/urls.go; Go 1.24 net/url.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote_from_bytes, unquote_to_bytes

from trainyard.api.cel.errors import CelError
from trainyard.api.cel.functions import Functions
from trainyard.api.cel.values import Opaque

FUNCTIONS = Functions()

PATH_SAFE = "$&+,/:;=@-_.~"
PATH_KEPT = frozenset(PATH_SAFE + "!'()*[]%ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PORT = re.compile(r"(:[0-9]*)?", re.ASCII)
_HOST = re.compile(r"([A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>\"]|[^\x00-\x7f]|%[89A-Fa-f][0-9A-Fa-f])*")
_USER = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL; `path` is as written, escapes included."""

    scheme: str
    user: str
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


def parse(text: str, *, request: bool) -> Url:
    """Read a URL; one of a request has no fragment and is absolute, or a path from the root. Raises ValueError."""
    fragment = ""
    if not request:
        text, _, fragment = text.partition("#")
        check_escapes(fragment)
    if _CONTROL.search(text):
        raise ValueError("invalid control character in URL")
    if request and not text:
        raise ValueError("empty url")
    if text == "*":
        return Url("", "", "", "*", "", fragment)
    if text.startswith(":"):
        raise ValueError("missing protocol scheme")
    scheme = match[1].lower() if (match := _SCHEME.match(text)) else ""
    rest, _, query = text[match.end() if match else 0 :].partition("?")
    if not rest.startswith("/"):
        if scheme:
            return Url(scheme, "", "", "", query, fragment)
        if request:
            raise ValueError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise ValueError("first path segment in URL cannot contain colon")
    user = host = ""
    if rest.startswith("//") and (scheme or not (request or rest.startswith("///"))):
        authority, slash, path = rest[2:].partition("/")
        user, host = read_authority(authority)
        rest = slash + path
    check_escapes(rest)
    return Url(scheme, user, host, rest, query, fragment)


def check_escapes(text: str) -> None:
    """Raise ValueError for a percent sign that no two hexadecimal digits follow."""
    if match := _BAD_ESCAPE.search(text):
        raise ValueError(f'invalid URL escape "{text[match.start() : match.start() + 3]}"')


def read_authority(authority: str) -> tuple[str, str]:
    """Split user information from host and port, and check both."""
    user, at, host = authority.rpartition("@")
    if at and not _USER.fullmatch(user):
        raise ValueError("net/url: invalid userinfo")
    check_escapes(user)
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise ValueError("missing ']' in host")
        port = host[end + 1 :]
    else:
        port = host[host.rfind(":") :] if ":" in host else ""
    if not _PORT.fullmatch(port):
        raise ValueError(f'invalid port "{port}" after host')
    if not _HOST.fullmatch(host.replace("%25", "", 1) if host.startswith("[") else host):
        raise ValueError("invalid character in host name")
    return user, unquote_to_bytes(host).decode(errors="replace")


@FUNCTIONS.define("url(string) -> kubernetes.URL")
def to_url(text: str) -> Opaque:
    """Read a URL."""
    try:
        parse(text, request=True)
        return Opaque("kubernetes.URL", parse(text, request=False))
    except ValueError as error:
        raise CelError(f'URL parse error during conversion from string: parse "{text}": {error}') from None


@FUNCTIONS.define("isURL(string) -> bool")
def is_url(text: str) -> bool:
    """Whether text is an absolute URL, or a path from the root."""
    try:
        parse(text, request=True)
    except ValueError:
        return False
    return True


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

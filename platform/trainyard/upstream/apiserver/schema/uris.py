"""URIs as Go's net/url reads them from a request: absolute, or an absolute path.

Source: Go 1.25 net/url, ParseRequestURI.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address

SCHEME = re.compile("([a-zA-Z][a-zA-Z0-9+.-]*):")
CONTROL = re.compile("[\x00-\x1f\x7f]")
BAD_ESCAPE = re.compile("%(?![0-9a-fA-F]{2})")
HOST_ESCAPE = re.compile("%(?!25|[89a-fA-F])")
NOT_HOST = re.compile(r"[ \\^`{|}%/?#@]")
USER = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
PORT = re.compile("(?::[0-9]*)?")


def is_request(text: str) -> bool:
    """Whether the text is a URI that a request may have."""
    if not text or CONTROL.search(text) or text.startswith(":"):
        return False
    if text == "*":
        return True
    match = SCHEME.match(text)
    rest = text[match.end() :] if match else text
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        return match is not None
    if match and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        return is_authority(authority) and not BAD_ESCAPE.search(slash + path)
    return not BAD_ESCAPE.search(rest)


def is_authority(text: str) -> bool:
    """Whether the text is a host with an optional user and port."""
    user, mark, host = text.rpartition("@")
    if mark and (not USER.fullmatch(user) or BAD_ESCAPE.search(user)):
        return False
    if host.startswith("["):
        return is_literal(host)
    name, colon, port = host.rpartition(":")
    if colon and not PORT.fullmatch(colon + port):
        return False
    return is_host(name if colon else host)


def is_literal(text: str) -> bool:
    """Whether the text is an IPv6 address in brackets, with an optional zone and port."""
    inside, bracket, port = text[1:].rpartition("]")
    address = inside.partition("%25")[0]
    try:
        IPv6Address(address)
    except ValueError:
        return False
    return bool(bracket) and PORT.fullmatch(port) is not None


def is_host(text: str) -> bool:
    """Whether every character may be in a host; escapes only stand for what is no ASCII."""
    if "[" in text or BAD_ESCAPE.search(text) or HOST_ESCAPE.search(text):
        return False
    return not NOT_HOST.search(re.sub("%[0-9a-fA-F]{2}", "", text))

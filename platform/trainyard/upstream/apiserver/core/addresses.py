"""IP addresses and CIDRs in core fields: read as leniently as old Go did, judged strictly from Kubernetes 1.36 on.

Source: k8s.io/apimachinery v0.35.4 pkg/util/validation/ip.go (gate StrictIPCIDRValidation) and the forked parser of
k8s.io/utils net.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Any

from trainyard.upstream.apiserver.core.shapes import integer

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_V4 = re.compile(r"(\d+)\.(\d+)\.(\d+)\.(\d+)", re.ASCII)
_GROUP = re.compile("[0-9a-fA-F]+")
_DIGITS = re.compile(r"\d+", re.ASCII)
NOT_ADDRESS = "must be a valid IP address, such as 10.9.8.7 or 2001:db8::ffff"
NOT_NETWORK = "must be a valid CIDR value, such as 10.9.8.0/24 or 2001:db8::/64"


def parse(text: str) -> Address | None:
    """An address, leading zeros allowed; None for what is none."""
    for char in text:
        if char == ".":
            return _parse_v4(text)
        if char == ":":
            return _parse_v6(text)
    return None


def _parse_v4(text: str) -> IPv4Address | None:
    match = _V4.fullmatch(text)
    if match is None:
        return None
    parts = [integer(part) for part in match.groups()]
    return IPv4Address(bytes(parts)) if max(parts) <= 255 else None


def _parse_v6(text: str) -> IPv6Address | None:
    head, gap, tail = text.partition("::")
    if "::" in tail or tail.startswith(":"):
        return None
    left, right = _groups(head, last=not gap), _groups(tail, last=True)
    if left is None or right is None:
        return None
    count = len(left) + len(right)
    if gap and count < 8:
        left += [0] * (8 - count)
    elif gap or count != 8:
        return None
    return IPv6Address(b"".join(group.to_bytes(2, "big") for group in left + right))


def _groups(text: str, *, last: bool) -> list[int] | None:
    if not text:
        return []
    parts = text.split(":")
    tail: list[int] = []
    if last and "." in parts[-1]:
        if (quad := _parse_v4(parts.pop())) is None:
            return None
        tail = [int(quad) >> 16, int(quad) & 0xFFFF]
    if not all(_GROUP.fullmatch(part) for part in parts):
        return None
    groups = [int(part, 16) for part in parts]
    return [*groups, *tail] if all(group <= 0xFFFF for group in groups) else None


def parse_network(text: str) -> Network | None:
    """A network, leading zeros and host bits allowed; None for what is none."""
    if (parts := _split(text)) is None:
        return None
    return ip_network(parts, strict=False)


def _split(text: str) -> tuple[str, int] | None:
    head, slash, bits = text.partition("/")
    address = parse(head)
    if not slash or address is None or not _DIGITS.fullmatch(bits) or integer(bits) > address.max_prefixlen:
        return None
    return str(address), integer(bits)


def _strict_detail(text: str) -> str | None:
    address = parse(text)
    if any(len(part) > 1 and part[0] == "0" for part in text.rpartition(":")[2].split(".")) and "." in text:
        return "must not have leading 0s"
    if any(len(part) > 4 for part in text.split(":") if "." not in part) and ":" in text:
        return "must not have leading 0s"
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return "must not be an IPv4-mapped IPv6 address"
    return None


def address(value: Any, *, strict: bool, known: Collection[str] = ()) -> str | None:
    """The rule for an address; `known` are values of the old object, which may stay."""
    if type(value) is not str or value in known:
        return None
    if parse(value) is None:
        return NOT_ADDRESS
    return _strict_detail(value) if strict else None


def network(value: Any, *, strict: bool, known: Collection[str] = ()) -> str | None:
    """The rule for a CIDR; `known` are values of the old object, which may stay."""
    if type(value) is not str or value in known:
        return None
    found = parse_network(value)
    if found is None:
        return NOT_NETWORK
    if not strict:
        return None
    head, _, bits = value.partition("/")
    if detail := _strict_detail(head):
        return detail
    if len(bits) > 1 and bits[0] == "0":
        return "must not have leading 0s in the prefix length"
    return None if parse(head) == found.network_address else "must not have bits set beyond the prefix length"


def canonical_address(value: str) -> str | None:
    """The rule for an address whose spelling has to be the canonical one."""
    found = parse(value)
    if found is None or (detail := _strict_detail(value)):
        return NOT_ADDRESS if found is None else detail
    return None if value == str(found) else f"must be in canonical form ({str(found)!r})"


def canonical_network(value: str) -> str | None:
    """The rule for a CIDR whose spelling has to be the canonical one."""
    if detail := network(value, strict=True):
        return detail
    found = str(parse_network(value))
    return None if value == found else f"must be in canonical form ({found!r})"


def is_v6(text: str) -> bool:
    """Whether the text is an IPv6 address, and not an IPv4 one in disguise."""
    found = parse(text)
    return isinstance(found, IPv6Address) and found.ipv4_mapped is None


def are_dual(texts: list[str]) -> bool:
    """Whether the addresses or networks hold both families."""
    families = {is_v6(text.partition("/")[0]) for text in texts}
    return len(families) == 2


def endpoint(value: Any) -> str | None:
    """The rule for an address that traffic is sent to."""
    found = parse(value) if type(value) is str else None
    if found is None:
        return None
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    plain = mapped or found
    if plain.is_unspecified:
        return "may not be unspecified"
    if plain.is_loopback:
        return "may not be in the loopback range (127.0.0.0/8, ::1/128)"
    if plain.is_link_local:
        return "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
    return "may not be in the link-local multicast range" if _is_local_multicast(plain) else None


def _is_local_multicast(found: Address) -> bool:
    if isinstance(found, IPv4Address):
        return found in IPv4Network("224.0.0.0/24")
    packed = found.packed
    return packed[0] == 0xFF and packed[1] & 0x0F == 0x02


def is_strictly_within(inner: Network, outer: Network) -> bool:
    """Whether a network is smaller than another and starts inside it."""
    same = outer.version == inner.version
    return same and inner.network_address in outer and inner.prefixlen > outer.prefixlen

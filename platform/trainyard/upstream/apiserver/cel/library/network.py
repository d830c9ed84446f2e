"""Addresses and networks.

Source: kubernetes/apiserver v0.35.4 pkg/cel/library/ip.go, cidr.go; Go 1.24 net/netip.
"""

from __future__ import annotations

import ipaddress
import re

from trainyard.upstream.apiserver.cel.errors import CelError, no_such_overload
from trainyard.upstream.apiserver.cel.functions import Functions
from trainyard.upstream.apiserver.cel.values import Opaque

FUNCTIONS = Functions(since=30)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Interface | ipaddress.IPv6Interface

IP, CIDR = "net.IP", "net.CIDR"
BROADCAST = ipaddress.ip_address("255.255.255.255")
LOCAL_MULTICAST = ipaddress.ip_network("224.0.0.0/24")
_BITS = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)


def parse_address(text: str) -> Address:
    """Read an address without zone; raises ValueError."""
    if "/" in text or text != text.strip():
        raise ValueError(f'IP Address "{text}" parse error during conversion from string')
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise ValueError(f'IP Address "{text}" parse error during conversion from string') from None
    if "%" in text:
        raise ValueError(f'IP address "{text}" with zone value is not allowed')
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        raise ValueError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return address


def parse_network(text: str) -> Network:
    """Read an address and a prefix length; raises ValueError."""
    address, slash, bits = text.rpartition("/")
    if not slash or not _BITS.fullmatch(bits):
        raise ValueError(f'network address parse error during conversion from string: "{text}"')
    return ipaddress.ip_interface(f"{parse_address(address)}/{bits}")


@FUNCTIONS.define("ip(string) -> net.IP")
def to_ip(text: str) -> Opaque:
    """Read an address."""
    try:
        return Opaque(IP, parse_address(text))
    except ValueError as error:
        raise CelError(str(error)) from None


@FUNCTIONS.define("isIP(string) -> bool")
def is_ip(text: str) -> bool:
    """Whether text is an address."""
    try:
        parse_address(text)
    except ValueError:
        return False
    return True


@FUNCTIONS.define("ip.isCanonical(string) -> bool")
def is_canonical(text: str) -> bool:
    """Whether an address is written as it should be; an error where it is none."""
    return str(address_of(to_ip(text))) == text


def address_of(value: Opaque) -> Address:
    """Return the address within a value."""
    assert isinstance(value.content, ipaddress.IPv4Address | ipaddress.IPv6Address)
    return value.content


def network_of(value: Opaque) -> Network:
    """Return the network within a value."""
    assert isinstance(value.content, ipaddress.IPv4Interface | ipaddress.IPv6Interface)
    return value.content


@FUNCTIONS.define("string(net.IP) -> string")
def ip_text(value: Opaque) -> str:
    """Write an address in its shortest form."""
    return str(address_of(value))


@FUNCTIONS.define("net.IP.family() -> int")
def family(value: Opaque) -> int:
    """4 or 6."""
    return address_of(value).version


@FUNCTIONS.define("net.IP.isUnspecified() -> bool")
def is_unspecified(value: Opaque) -> bool:
    """Whether it is all zeros."""
    return address_of(value).is_unspecified


@FUNCTIONS.define("net.IP.isLoopback() -> bool")
def is_loopback(value: Opaque) -> bool:
    """Whether it is the host itself."""
    return address_of(value).is_loopback


@FUNCTIONS.define("net.IP.isLinkLocalMulticast() -> bool")
def is_link_local_multicast(value: Opaque) -> bool:
    """Whether it is a group of the local link."""
    address = address_of(value)
    if isinstance(address, ipaddress.IPv4Address):
        return address in LOCAL_MULTICAST
    return int(address) >> 112 & 0xFF0F == 0xFF02


@FUNCTIONS.define("net.IP.isLinkLocalUnicast() -> bool")
def is_link_local_unicast(value: Opaque) -> bool:
    """Whether it is valid on the local link alone."""
    return address_of(value).is_link_local


@FUNCTIONS.define("net.IP.isGlobalUnicast() -> bool")
def is_global_unicast(value: Opaque) -> bool:
    """Whether it names one host beyond the link; private addresses count."""
    address = address_of(value)
    local = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not local and address != BROADCAST


@FUNCTIONS.define("cidr(string) -> net.CIDR")
def to_cidr(text: str) -> Opaque:
    """Read a network."""
    try:
        return Opaque(CIDR, parse_network(text))
    except ValueError as error:
        raise CelError(f"network address parse error during conversion from string: {error}") from None


@FUNCTIONS.define("isCIDR(string) -> bool")
def is_cidr(text: str) -> bool:
    """Whether text is a network."""
    try:
        parse_network(text)
    except ValueError:
        return False
    return True


@FUNCTIONS.define("net.CIDR.containsIP(string) -> bool", "net.CIDR.containsIP(net.IP) -> bool")
def contains_ip(value: Opaque, other: Opaque | str) -> bool:
    """Whether an address is within a network; text that is no address is an error."""
    if isinstance(other, str):
        if not is_ip(other):
            raise no_such_overload()
        other = to_ip(other)
    return address_of(other) in network_of(value).network


@FUNCTIONS.define("net.CIDR.containsCIDR(string) -> bool", "net.CIDR.containsCIDR(net.CIDR) -> bool")
def contains_cidr(value: Opaque, other: Opaque | str) -> bool:
    """Whether a network is within another; text that is no network is an error."""
    if isinstance(other, str):
        if not is_cidr(other):
            raise no_such_overload()
        other = to_cidr(other)
    outer, inner = network_of(value).network, network_of(other).network
    return outer.overlaps(inner) and outer.prefixlen <= inner.prefixlen


@FUNCTIONS.define("net.CIDR.ip() -> net.IP")
def ip_of(value: Opaque) -> Opaque:
    """Return the address as written, host bits included."""
    return Opaque(IP, network_of(value).ip)


@FUNCTIONS.define("net.CIDR.prefixLength() -> int")
def prefix_length(value: Opaque) -> int:
    """How many bits the network has."""
    return network_of(value).network.prefixlen


@FUNCTIONS.define("net.CIDR.masked() -> net.CIDR")
def mask_network(value: Opaque) -> Opaque:
    """Return the network without host bits."""
    network = network_of(value).network
    return Opaque(CIDR, ipaddress.ip_interface(str(network)))


@FUNCTIONS.define("string(net.CIDR) -> string")
def cidr_text(value: Opaque) -> str:
    """Write a network as it was given."""
    network = network_of(value)
    return f"{network.ip}/{network.network.prefixlen}"

"""A container registry, asked for the configuration of images (OCI distribution-spec v1.1.1, pulling manifests)."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from trainyard.base.errors import ToolError

MANIFESTS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
SECONDS = 20
"""Time to wait for an answer."""

MOST = 8 * 2**20
"""Bytes of a manifest or a configuration; registries take manifests of 4 MiB."""

HUBS = {"docker.io": "registry-1.docker.io", "index.docker.io": "registry-1.docker.io"}
"""Hosts that answer for others."""

LOCAL = re.compile(r"(?:localhost|127\.[0-9.]+|\[::1\])(?::[0-9]+)?")
"""Hosts that are asked by HTTP, as Docker does."""


@dataclass
class Registries:
    """The registries that images name, with the credentials of `docker login`."""

    logins: Mapping[str, str] = field(default_factory=dict)
    """By host, name and password as HTTP's basic authentication encodes them."""
    _tokens: dict[str, str] = field(default_factory=dict)

    def configuration(self, image: str) -> dict[str, Any]:
        """Return the configuration of an image by digest, of several platforms the first; raises ToolError."""
        name, _, digest = image.partition("@")
        host, _, path = name.partition("/")
        repository = path.rpartition(":")[0] or path
        manifest = self.document(host, repository, "manifests", digest)
        if "manifests" in manifest:
            first = next(
                (item for item in manifest["manifests"] if item.get("platform", {}).get("os") != "unknown"), None
            )
            if first is None:
                raise ToolError(f"image {image} has no platform; push an image")
            manifest = self.document(host, repository, "manifests", first["digest"])
        config = manifest.get("config", {}).get("digest")
        if not isinstance(config, str):
            raise ToolError(f"image {image} has no configuration; push an image")
        return self.document(host, repository, "blobs", config).get("config") or {}

    def document(self, host: str, repository: str, kind: str, digest: str) -> dict[str, Any]:
        """Return a document by its digest, which its content must have."""
        scheme = "http" if LOCAL.fullmatch(host) else "https"
        address = f"{scheme}://{HUBS.get(host, host)}/v2/{repository}/{kind}/{digest}"
        data = self.get(address, host, repository)
        if f"sha256:{hashlib.sha256(data).hexdigest()}" != digest:
            raise ToolError(f"{address} has another digest; ask the registry's owner")
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ToolError(f"{address} is not JSON; ask the registry's owner") from error
        if not isinstance(value, dict):
            raise ToolError(f"{address} is not a map; ask the registry's owner")
        return value

    def get(self, address: str, host: str, repository: str) -> bytes:
        """Return the bytes at an address, with a token where the registry wants one."""
        headers = {"Accept": ", ".join(MANIFESTS)}
        if (token := self._tokens.get(f"{host}/{repository}")) is not None:
            headers["Authorization"] = token
        try:
            return fetch(address, headers)
        except urllib.error.HTTPError as error:
            challenge = error.headers.get("WWW-Authenticate") or ""
            if error.code != 401 or token is not None:
                raise ToolError(f"{address} answers {error.code}; check the image's name and digest") from error
        self._tokens[f"{host}/{repository}"] = self.authorize(challenge, host)
        return self.get(address, host, repository)

    def authorize(self, challenge: str, host: str) -> str:
        """Return the authorization that a challenge asks for."""
        sort, _, rest = challenge.partition(" ")
        login = self.logins.get(host)
        if sort.lower() == "basic" and login:
            return f"Basic {login}"
        said = dict(re.findall(r'(\w+)="([^"]*)"', rest))
        realm = said.pop("realm", "")
        schemes = ("https://", "http://") if LOCAL.fullmatch(host) else ("https://",)
        if sort.lower() != "bearer" or not realm.startswith(schemes):
            raise ToolError(f"registry {host} wants a login; run docker login {host}")
        headers = {"Authorization": f"Basic {login}"} if login else {}
        try:
            answer = json.loads(fetch(f"{realm}?{urlencode(said)}", headers))
        except (urllib.error.HTTPError, ValueError, RecursionError) as error:
            raise ToolError(f"registry {host} wants a login; run docker login {host}") from error
        token = (answer.get("token") or answer.get("access_token")) if isinstance(answer, dict) else None
        return f"Bearer {token or ''}"


def fetch(address: str, headers: Mapping[str, str]) -> bytes:
    """Return the bytes at an address; a redirect to another host takes no authorization along."""
    request = urllib.request.Request(address)  # noqa: S310 - registries are asked by HTTP and HTTPS alone
    for name, value in headers.items():
        (request.add_unredirected_header if name == "Authorization" else request.add_header)(name, value)
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - see above
            data: bytes = answer.read(MOST + 1)
    except urllib.error.HTTPError:
        raise
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        raise ToolError(f"{address} does not answer: {error}") from error
    if len(data) > MOST:
        raise ToolError(f"{address} has more than {MOST} bytes; check the image's name and digest")
    return data


def docker_logins() -> dict[str, str]:
    """Return the logins in the configuration of Docker; programs that keep credentials are not asked."""
    folder = os.environ.get("DOCKER_CONFIG") or str(Path.home() / ".docker")
    try:
        value = json.loads((Path(folder) / "config.json").read_text())
    except (OSError, ValueError, RecursionError):
        return {}
    auths = value.get("auths") if isinstance(value, dict) else None
    found = {}
    for host, entry in (auths or {}).items():
        if isinstance(entry, dict) and isinstance(login := entry.get("auth"), str) and is_login(login):
            found[host.removeprefix("https://").partition("/")[0]] = login
    return found


def is_login(text: str) -> bool:
    """Whether a text is name and password in base 64."""
    try:
        return b":" in base64.b64decode(text, validate=True)
    except ValueError:
        return False

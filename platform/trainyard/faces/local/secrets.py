"""Secrets: those that a person gives as folders, and the keys that operators draw."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from pathlib import Path

from trainyard.base.system import process, scratch
from trainyard.faces.local.controllers.base import NAMESPACE, Object, Objects, RunError
from trainyard.faces.local.controllers.mpijob import PRIVATE, PUBLIC

BITS = "521"
"""Of the curve that the operators take (mpi-operator v0.8.2 newSSHAuthSecret)."""


def secret_objects(folders: Mapping[str, Path], namespaces: Iterable[str]) -> list[Object]:
    """Return Secrets whose keys are the files of folders, in every namespace."""
    found: list[Object] = []
    for name, folder in folders.items():
        if not folder.is_dir():
            raise RunError(
                f"--secret {name}={folder} is not a folder; the files of the folder become the keys of the Secret"
            )
        data = {file.name: encoded(file.read_bytes()) for file in sorted(folder.iterdir()) if file.is_file()}
        for namespace in namespaces or (NAMESPACE,):
            metadata = {"name": name, "namespace": namespace}
            found.append({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
    return found


def encoded(content: bytes) -> str:
    """Return bytes as a Secret has them."""
    return base64.b64encode(content).decode()


def drawn(objects: Objects) -> list[Object]:
    """Return the Secrets that operators draw, with keys: one pair each."""
    found = []
    for value in objects.values:
        names = set(value.get("data") or ()) if value.get("kind") == "Secret" else set()
        if {PRIVATE, PUBLIC} <= names and not value["data"][PRIVATE]:
            private, public = pair()
            found.append({**value, "data": {PRIVATE: private, PUBLIC: public}})
        elif {"id_rsa", "id_rsa.pub", "authorized_keys"} <= names and not value["data"]["id_rsa"]:
            private, public = pair()
            own = {"id_rsa": private, "id_rsa.pub": public, "authorized_keys": public}
            found.append({**value, "data": {**value["data"], **own}})
    return found


def pair() -> tuple[str, str]:
    """Return a private and a public key."""
    with scratch.folder("keys") as folder:
        path = folder / "key"
        command = ["ssh-keygen", "-q", "-t", "ecdsa", "-b", BITS, "-m", "PEM", "-N", "", "-C", "", "-f", str(path)]
        process.run(command, cwd=folder)
        if not path.exists():
            raise RunError("ssh-keygen created no key, which pods need to reach each other by ssh")
        return encoded(path.read_bytes()), encoded(path.with_suffix(".pub").read_bytes())

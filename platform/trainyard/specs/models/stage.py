"""Data that each node copies to its local disks before training."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from trainyard.specs.models.base import Room, Spec, validation_error


class Stage(Spec):
    """Copying data to the local disks of each node before training; the program finds it at the same path."""

    size: Room
    """Bytes of the data; staging fails if there are more."""


def only_read(value: Stage | None, info: ValidationInfo) -> Stage | None:
    """Refuse a copy that nobody mounts, and one whose changes would be lost."""
    if value is not None and info.data.get("mount_path") is None:
        raise validation_error("one-of", "only works with mountPath; add mountPath")
    if value is not None and not info.data.get("read_only", True):
        raise validation_error("one-of", "is a copy that ends with the pod; remove readOnly: false, or stage")
    return value


Staged = Annotated[Stage | None, AfterValidator(only_read)]
"""A copy of what the field's object mounts; its `mount_path` and `read_only` come before it."""

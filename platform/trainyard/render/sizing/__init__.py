"""What a job's pods ask for, and why: every value that is derived, with the sentence it follows from."""

from trainyard.render.sizing.base import Closeness, RoleSize, Sized, Sizing
from trainyard.render.sizing.companions import pod_requests, resources
from trainyard.render.sizing.roles import WORKER, Implied, RoleSpec
from trainyard.render.sizing.run import size_run as size

__all__ = [
    "WORKER",
    "Closeness",
    "Implied",
    "RoleSize",
    "RoleSpec",
    "Sized",
    "Sizing",
    "pod_requests",
    "resources",
    "size",
]

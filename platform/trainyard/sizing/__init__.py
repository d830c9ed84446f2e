"""What a job's pods ask for, and why: every value that is derived, with the sentence it follows from."""

from trainyard.sizing.base import Closeness, RoleSize, Sized, Sizing
from trainyard.sizing.limits import check
from trainyard.sizing.run import size_run as size
from trainyard.sizing.wish import WORKER, resources

__all__ = ["WORKER", "Closeness", "RoleSize", "Sized", "Sizing", "check", "resources", "size"]

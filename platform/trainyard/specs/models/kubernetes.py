"""Minor versions of Kubernetes in specs."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import StrictStr

from trainyard.base.system.data import minors, minors_in_words
from trainyard.specs.models.base import Form

_FORM = rf"v?(?:{'|'.join(map(re.escape, minors()))})(?:\.[0-9]+)?"

Kubernetes = Annotated[StrictStr, Form(_FORM, minors_in_words("'") + ", in quotes")]
"""A minor version of Kubernetes whose API types are there, or a patch release of it."""

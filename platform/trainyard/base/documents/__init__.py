"""YAML and JSON text as plain values, typed as Kubernetes types them, with the place of every field; and back."""

from trainyard.base.documents.decode import EMPTY, load
from trainyard.base.documents.emit import dump
from trainyard.base.documents.nodes import MAX_DEPTH
from trainyard.base.documents.positions import Document
from trainyard.base.documents.stream import is_plain
from trainyard.base.findings import Path, format_path

__all__ = ["EMPTY", "MAX_DEPTH", "Document", "Path", "dump", "format_path", "is_plain", "load"]

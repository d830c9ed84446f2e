"""YAML and JSON text as plain values, typed as Kubernetes types them, with the place of every field; and back."""

from trainyard.documents.decode import EMPTY, load
from trainyard.documents.emit import dump
from trainyard.documents.nodes import MAX_DEPTH
from trainyard.documents.positions import Document
from trainyard.documents.stream import is_plain
from trainyard.findings import Path, format_path

__all__ = ["EMPTY", "MAX_DEPTH", "Document", "Path", "dump", "format_path", "is_plain", "load"]

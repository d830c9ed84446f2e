"""A file's bytes cut into the texts of its documents, as the API machinery cuts a stream."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from trainyard.base.documents.problem import Problem
from trainyard.base.limits import DOCUMENT_BYTES, FILE_BYTES, MIB

SEPARATOR = re.compile(rb"^---[^\n]*\n?", re.MULTILINE)
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
UTF32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def recode_utf8(data: bytes) -> bytes:
    """Return a file in UTF-8: YAML may be UTF-16 with a byte order mark too; what is neither stays as it is."""
    if not data.startswith(UTF16) or data.startswith(UTF32):
        return data
    try:
        return data.decode("utf-16").encode()
    except UnicodeError:
        return data


def whole_file_problem(data: bytes) -> Problem | None:
    """Return the problem that makes the whole file unreadable: its size or its encoding."""
    if len(data) > FILE_BYTES:
        size, limit = f"{len(data) / MIB:.0f}", str(FILE_BYTES // MIB)
        many = f"{size} MiB, but the limit is {limit} MiB" if size != limit else f"more than {limit} MiB"
        return Problem("decode/size", f"file has {many}; split it", 1, 1)
    if data.startswith((*UTF16, *UTF32)):
        name = "UTF-32" if data.startswith(UTF32) else "broken UTF-16"
        return Problem("decode/encoding", f"file is {name}; save it as UTF-8", 1, 1)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = len(before[before.rfind(b"\n") + 1 :].decode()) + 1
        message = f"byte 0x{data[error.start]:02X} is not UTF-8; save the file as UTF-8"
        return Problem("decode/encoding", message, before.count(b"\n") + 1, column)
    return None


def is_plain(data: bytes) -> bool:
    """Whether a file is UTF-8 of a size that is read, so that its documents can be read apart."""
    return recode_utf8(data) is data and whole_file_problem(data) is None


def too_large(text: bytes, line: int) -> Problem | None:
    """Return the problem of a document that is larger than any object that an API server accepts."""
    if len(text) <= DOCUMENT_BYTES:
        return None
    message = f"document has {len(text) / MIB:.0f} MiB, but the limit is {DOCUMENT_BYTES // MIB} MiB; split it"
    return Problem("decode/size", message, line, 1)


def split(data: bytes, first_line: int = 1) -> Iterator[tuple[bytes, int, Problem | None]]:
    """Yield each document's text with its first line, or the problem of a line that only looks like a separator.

    A line that starts with `---` ends a document wherever it stands, may carry nothing but a comment, and stays in
    the text when nothing stands before it; lines end in a line feed, the last one too (YAMLReader in apimachinery
    0.35 `util/yaml/decoder.go`).
    """
    data = data.replace(b"\r\n", b"\n")
    start, line = 0, first_line
    for match in SEPARATOR.finditer(data):
        part = data[start : match.start()]
        here = line + part.count(b"\n")
        if part:
            yield part, line, too_large(part, line)
            start, line = match.end(), here + 1
        rest = match.group()[3:].strip()
        if rest and not rest.startswith(b"#"):
            message = "text after '---' on a line breaks the document separator; write only '---'"
            yield b"", here, Problem("decode/separator", message, here, 1)
            start, line = match.end(), here + 1
    if start < len(data):
        part = data[start:]
        yield part if part.endswith(b"\n") else part + b"\n", line, too_large(part, line)

"""Files with cases, one JSON document a line, of any length: some documents are held at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.base.documents import Document
    from trainyard.base.findings import Finding


def documents_in(name: str) -> Iterator[tuple[list[Document], list[Finding]]]:
    """Yield some documents of a file, or of standard input, after another, with what cannot be read.

    Raises OSError where it cannot be opened, and TrainyardError for a document that is too large.
    """
    from trainyard.base.documents import load
    from trainyard.base.documents.decode import finding_of
    from trainyard.base.documents.pieces import pieces
    from trainyard.base.errors import TrainyardError
    from trainyard.base.limits import DOCUMENT_BYTES, MIB
    from trainyard.base.system.files import called, opened

    count = 0
    with opened(name) as stream:
        for piece in pieces(getattr(stream, "read1", stream.read)):
            count += 1
            if piece.too_large:
                most = DOCUMENT_BYTES // MIB
                raise TrainyardError(f"{called(name)}:{piece.line}: document has more than {most} MiB; split it")
            if piece.problem is not None:
                yield [], [finding_of(piece.problem, called(name), 0)]
            else:
                yield load(piece.data, file=called(name), first_line=piece.line)
    if not count:
        yield load(b"", file=called(name))

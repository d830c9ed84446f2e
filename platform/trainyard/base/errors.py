"""What stops a run: exceptions that mean "could not finish" (exit code 2), never "something is wrong in a file"."""


class TrainyardError(Exception):
    """A run cannot go on; the message is one sentence for the user."""


class SpecError(TrainyardError):
    """The repository itself cannot be read: no `platform/clusters`, a folder where a file should be."""


class ToolError(TrainyardError):
    """A program or an extra that this command needs is missing or failed; the message says how to get it."""


class PolicyError(TrainyardError):
    """A policy's file cannot be used; who reports findings makes one of it, at the place."""

    def __init__(self, file: str, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(f"policies/{file}:{line}:{column}: {message}")
        self.file, self.message, self.line, self.column = file, message, line, column

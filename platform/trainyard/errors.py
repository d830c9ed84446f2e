"""What stops a run: exceptions that mean "could not finish" (exit code 2), never "something is wrong in a file"."""


class TrainyardError(Exception):
    """A run cannot go on; the message is one sentence for the user."""


class SpecError(TrainyardError):
    """The repository itself cannot be read: no `platform/clusters`, a folder where a file should be."""


class ToolError(TrainyardError):
    """A program or an extra that this command needs is missing or failed; the message says how to get it."""

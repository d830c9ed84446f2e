"""Facts that a policy may need."""

LACKS = {"inventory": "no inventory", "cluster": "needs a whole cluster", "runs": "needs all runs together"}
"""The reason that a report gives for a policy that did not run, by what its world lacks."""

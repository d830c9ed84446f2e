"""What a policy may need of a world."""

LACKS = {"inventory": "no inventory", "cluster": "only of a whole cluster", "runs": "only of all runs together"}
"""The reason that a report gives for a policy that did not run, by what its world lacks."""

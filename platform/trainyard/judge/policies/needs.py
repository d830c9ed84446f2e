"""Facts that a policy may need."""

LACKS = {
    "inventory": "no inventory",
    "cluster": "only checked for a whole cluster",
    "runs": "only checked with all runs together",
}
"""The reason that a report gives for a policy that did not run, by what its world lacks."""

"""Which pods are kept off the pools with NVIDIA's GPUs by their node selector, in Python and in CEL.

A list of the allowance has these pools: by name, or where nodes have labels of others by what selects each, as
`label=value;label=value`. The text of a policy has the conditions as `isFar(<pod>)` and the like until its cluster is
known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from trainyard.base.labels import POOL
from trainyard.base.pools import Selector, excludes, selector_of
from trainyard.specs import Cluster

POOLS, FREE = "gpupools", "freepools"
"""Lists of the allowance: pools with NVIDIA's GPUs, and pools without where labels of others select nodes."""

JOIN, IS = ";", "="

BY_NAME = {
    "isFar": f"!({{x}}.?nodeSelector[?'{POOL}'].orValue(variables.{POOLS}[0]) in variables.{POOLS})",
    "isNear": f"{{x}}.?nodeSelector[?'{POOL}'].orValue('') in variables.{POOLS}",
    "isNamed": f"{{x}}.?nodeSelector[?'{POOL}'].hasValue()",
}
"""Where the usual label selects all nodes, the conditions of a pod `{x}`."""

LABEL, VALUE = f"pair.split('{IS}')[0]", f"pair.split('{IS}')[1]"
SAME = f"{{x}}.?nodeSelector[?{LABEL}].orValue('') == {VALUE}"
OTHER = f"{{x}}.?nodeSelector[?{LABEL}].orValue({VALUE}) != {VALUE}"
FAR = (
    f"(variables.{POOLS}.all(each, each.split('{JOIN}').exists(pair, {OTHER})) || "
    f"variables.{FREE}.exists(each, each.split('{JOIN}').all(pair, {SAME})))"
)
NEAR = f"(variables.{POOLS}.exists(each, each.split('{JOIN}').exists(pair, {SAME})) && !{FAR})"
BY_LABELS = {"isFar": FAR, "isNear": NEAR, "isNamed": FAR}
"""The same where labels of others select nodes of some pool."""

CONDITION = re.compile(rf"\b({'|'.join(BY_NAME)})\(([^()]*)\)")


def in_cluster(expression: str, cluster: Cluster) -> str:
    """Return an expression with the conditions as they are written for a cluster."""
    known = BY_LABELS if cluster.is_labelled_by_others else BY_NAME
    return CONDITION.sub(lambda match: known[match[1]].replace("{x}", match[2]), expression)


def lists(cluster: Cluster, gpu_pools: frozenset[str]) -> dict[str, list[str]]:
    """Return the lists of the allowance; `gpu_pools` are the pools with NVIDIA's GPUs."""
    if not cluster.is_labelled_by_others:
        return {POOLS: sorted(gpu_pools), FREE: []}
    listed = {
        name: JOIN.join(f"{label}{IS}{value}" for label, value in sorted(selector.items()))
        for name, selector in cluster.selectors.items()
    }
    with_gpus = sorted(listed[name] for name in listed if name in gpu_pools)
    return {POOLS: with_gpus, FREE: sorted(listed[name] for name in listed if name not in gpu_pools)}


def selector(listed: str) -> Selector:
    """Return the labels that select the nodes of a pool of a list."""
    if IS not in listed:
        return selector_of(listed)
    return dict(pair.split(IS, 1) for pair in listed.split(JOIN))


def is_far(selected: Mapping[str, Any], lists: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether pods with a node selector come to no pool with GPUs; those that say no pool may get to any."""
    kept_off = all(excludes(selector(pool), selected) for pool in lists[POOLS])
    return kept_off or any(selector(pool).items() <= selected.items() for pool in lists[FREE])


def is_near(selected: Mapping[str, Any], lists: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether a node selector has a label of nodes with GPUs, and leads to them."""
    wanted = (pair for pool in lists[POOLS] for pair in selector(pool).items())
    return any(selected.get(label) == value for label, value in wanted) and not is_far(selected, lists)

"""Kueue's feature gates, as the cluster has them."""

from __future__ import annotations

from functools import lru_cache

from trainyard.upstream.apiserver import gates as said
from trainyard.upstream.apiserver.webhooks.around import Review
from trainyard.upstream.kueue.model.gates import RELEASE, Gates


def of(review: Review) -> Gates:
    """Return the gates of the Kueue that is installed: those that somebody set, and its release's defaults."""
    return _of(review.around.gates, review.releases.get("kueue") or RELEASE)


def enabled(review: Review, name: str) -> bool:
    """Whether a gate is on."""
    return of(review)[name]


@lru_cache(maxsize=64)
def _of(given: said.Gates, release: str) -> Gates:
    return Gates(given.states, release)

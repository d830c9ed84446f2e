"""Why pods find no place, in Kueue's words.

Source: kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go notFitMessage, multiLayerNotFitMessage, formatReasons.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.upstream.kueue.topology.ask import Ask
from trainyard.upstream.kueue.topology.counts import Counts
from trainyard.upstream.kueue.topology.tree import Tree


def excluded_sentence(causes: Mapping[str, int], nodes: int) -> str:
    """Return the sentence on nodes that are left out, empty where none is."""
    told = ", ".join(sorted(f"{cause}: {count}" for cause, count in causes.items()))
    return f". Total nodes: {nodes}; excluded: {told}" if told else ""


def shortfall(topology: str, ask: Ask, found: int) -> str:
    """Return the sentence on slices, or single pods, of which only some fit."""
    unit = "pod" if ask.size == 1 else "slice"
    if not found:
        return f'topology "{topology}" doesn\'t allow to fit any of {ask.slices} {unit}(s)'
    return f'topology "{topology}" allows to fit only {found} out of {ask.slices} {unit}(s)'


def layered_shortfall(topology: str, tree: Tree, counts: Counts, ask: Ask, level: int) -> str:
    """Return the sentence on layers of slices: how many of each fit into the domain with most room."""
    text = f'topology "{topology}" doesn\'t allow to fit'
    domains = tree.at[level]
    best = min(domains, key=lambda domain: (-counts.slices[domain], tree.identifier(domain)))
    for layer in ask.layers:
        below = [best]
        for _ in range(tree.levels.index(layer.topology) - level):
            below = tree.below(below)
        fit = sum(counts.pods[domain] // layer.size for domain in below)
        text += f"; {fit}/{ask.count // layer.size} slice(s) fit on level {layer.topology}"
    return text

"""Images and command lines must have plain quotes, dashes and spaces.

Why: YAML and the API server keep those of a word processor as part of the text. The image is not found, and the
 program gets another name or option.
Fix: write plain characters.
Source: YAML 1.2.2, 7.3.1 and 7.3.2; kubernetes v1.35 pkg/apis/core/validation/validation.go validateContainerCommon
"""

from collections.abc import Iterator

from trainyard.checks import Place, Problem, Severity, World, container_texts, odd_characters

SEVERITY = Severity.WARNING


def check(world: World) -> Iterator[Problem]:
    """Look at the containers of every object that nobody renders here; `spec/quotes` looks at our own jobs."""
    for manifest in world.manifests if world.inventory is None else ():
        for path, name, text in container_texts(manifest):
            if not text.isascii() and (wrong := odd_characters(text, prose=path[-1] == "value")):
                yield Problem(Place(manifest, path), f"{name} {wrong}")

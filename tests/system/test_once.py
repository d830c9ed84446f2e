"""What follows from frozen models is worked out once."""

from __future__ import annotations

from trainyard.base.system.once import once


def test_numbers_and_texts_are_told_apart_by_value_and_models_by_identity() -> None:
    """A number has no identity to rely on; True is another argument than 1, and an equal model another model."""
    asked: list[tuple[object, ...]] = []

    @once
    def follows(model: object, name: str, count: int) -> int:
        asked.append((model, name, count))
        return len(asked)

    one, equal = [1], [1]
    large = 10**9
    assert follows(one, "a", large) == follows(one, "".join(["a"]), large - 1 + 1) == 1
    assert follows(equal, "a", large) == 2
    assert follows(one, "a", 1) == 3
    assert follows(one, "a", True) == 4
    assert len(asked) == 4

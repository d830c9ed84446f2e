"""Cases as Kueue's own scheduler answers them: objects in, decisions out."""

from trainyard.queueing.replay.answers import replay

__all__ = ["replay"]

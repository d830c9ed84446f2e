"""Cases as Kueue's own scheduler answers them: objects in, decisions out."""

from trainyard.queueing.replay.answers import replay
from trainyard.queueing.replay.prepared import Prepared

__all__ = ["Prepared", "replay"]

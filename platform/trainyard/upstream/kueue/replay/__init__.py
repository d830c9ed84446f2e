"""Cases as Kueue's own scheduler answers them: objects in, decisions out."""

from trainyard.upstream.kueue.replay.answers import replay
from trainyard.upstream.kueue.replay.prepared import Prepared

__all__ = ["Prepared", "replay"]

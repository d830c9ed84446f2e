"""Counts to a number, saves every so many steps where it is told to, and goes on from what it has saved."""

import os
import pathlib
import signal
import sys
import time

signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
goal, every, kept = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3]) / "count"
begin = int(kept.read_text()) if kept.exists() else 0
for step in range(begin + 1, goal + 1):
    time.sleep(0.05)
    if os.environ.get("JOB_COMPLETION_INDEX", "0") == "0":
        print(f"step={step}", flush=True)
        if step % every == 0:
            kept.with_suffix(".new").write_text(str(step))
            kept.with_suffix(".new").rename(kept)
            print(f"saved step={step}", flush=True)

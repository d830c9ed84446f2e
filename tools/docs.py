"""Writes what is generated from the code: the schema of the JSON report; `--check` fails where it is stale."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "platform"))

from trainyard.report.json_ import schema  # noqa: E402  # after the path is set

if __name__ == "__main__":
    target = ROOT / "schemas" / "trainyard" / "report.json"
    text = json.dumps(schema(), indent=1) + "\n"
    if "--check" in sys.argv:
        raise SystemExit(int(target.read_text(encoding="utf-8") != text))
    target.write_text(text, encoding="utf-8")
    print(f"wrote {target.relative_to(ROOT)}")

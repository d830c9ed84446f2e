"""Install kubeconform, the second schema engine, into .tools/bin, at the release that the package pins."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "platform"))

from trainyard.base.errors import ToolError  # noqa: E402  # after the path is set
from trainyard.base.system import kubeconform  # noqa: E402

if __name__ == "__main__":
    try:
        program = kubeconform.install(ROOT / kubeconform.FOLDER)
    except ToolError as error:
        raise SystemExit(str(error)) from error
    print(f"kubeconform {kubeconform.VERSION}: {program.relative_to(ROOT)}")

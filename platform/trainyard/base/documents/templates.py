"""Files that are no YAML yet, because a program such as Helm still has to fill them in."""

from __future__ import annotations

from dataclasses import replace

from trainyard.base.findings import Finding

OPEN = b"{{"
"""How an action begins (Go text/template)."""


def name_template(finding: Finding, data: bytes, *, then: str, fix: str | None = None) -> Finding:
    """Return a finding on a file that cannot be read, which says so where the file is a template.

    `then` is what to do about that.
    """
    if OPEN not in data or finding.rule not in ("decode/syntax", "decode/key"):
        return finding
    return replace(finding, message=f"this is a template with '{{{{', not YAML; {then}", fix=fix)

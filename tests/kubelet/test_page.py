"""The page on the kubelet's decision shows what comes out."""

from __future__ import annotations

import page
from command import call


def test_the_case_of_the_page_is_answered_as_it_says(tmp_path):
    """The page's case, replayed by the page's command, gives the page's answer."""
    (tmp_path / "whole-node.yaml").write_text(page.files("nodes.md", "A case")["whole-node.yaml"])
    (console,) = page.blocks("nodes.md", "console", "A case")
    command, _, answer = console.partition("\n")
    done = call(tmp_path, *command.split()[2:])
    assert done.stdout == answer

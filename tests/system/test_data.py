"""Trainyard's own schemas and policies, beside those of a repository."""

from __future__ import annotations

from pathlib import Path

from trainyard.base.system import data


def test_a_repositorys_policies_stand_beside_ours(tmp_path: Path) -> None:
    """One more policy takes none of ours away, and one with the same id takes the place of ours."""
    (tmp_path / "policies").mkdir()
    for name in ("my-rule.yaml", "kq_lq_exists.py", "README.md", "__init__.py"):
        (tmp_path / "policies" / name).write_text("")
    ours, found = data.policy_files(), data.policy_files(tmp_path)
    assert {path.stem for path in found} == {*(path.stem for path in ours), "my-rule"}
    own = {path.name for path in found if path.is_relative_to(tmp_path)}
    assert own == {"my-rule.yaml", "kq_lq_exists.py"}


def test_a_folder_of_schemas_for_editors_hides_no_api_types(tmp_path: Path) -> None:
    """A repository's own API types count only where they are."""
    assert len(data.write_editor_schemas(tmp_path)) == 4
    assert data.schemas_dir(tmp_path) == data.schemas_dir()
    (tmp_path / "schemas/lock.yaml").write_text("{}")
    assert data.schemas_dir(tmp_path) == tmp_path / "schemas"

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import trainyard.faces.cli.rerun as rerun
from make import make_job
from repo import Repo
from small_site import Site, rules, texts
from trainyard.base.findings import Location
from trainyard.render.tree import ledger
from trainyard.specs import Job
from trainyard.specs.run import digest


def merge(site: Site) -> None:
    """Commit what is there, merge it into main, and begin another branch."""
    site.commit()
    site.repo.git("switch", "-q", "main")
    site.repo.git("merge", "-q", "--no-ff", "--no-edit", "work")
    site.repo.git("branch", "-qD", "work")
    site.repo.git("switch", "-qc", "work")


def test_the_first_synth_makes_every_file(site: Site) -> None:
    """A run is a folder, an index outside the synced folders, and one line of its job's ledger."""
    run = site.run_of("nlp/llm")
    assert set(site.files()) == {
        "test/platform/clusterqueue.research.yaml",
        "test/teams/nlp/localqueue.research.yaml",
        "test/teams/vision/localqueue.research.yaml",
        "test/runs/nlp/configmap.runs.yaml",
        "test/runs/vision/configmap.runs.yaml",
        f"test/runs/nlp/{run}/job.{run}.yaml",
        f"test/runs/nlp/{run}/service.{run}.yaml",
        "test/index/platform.json",
        "test/index/teams/nlp.json",
        "test/index/teams/vision.json",
        "test/index/runs/nlp.json",
        "test/index/runs/vision.json",
        f"test/index/runs/nlp/{run}.json",
        "test/ledger/nlp/llm.json",
    }
    assert site.ledger("nlp/llm") == [(run, "active")]
    assert site.check() == []


def test_a_changed_template_leaves_existing_runs_alone(site: Site) -> None:
    """Our own code, an operator's version or a cluster may change: a run that exists keeps every byte."""
    before = site.files()
    site.template, site.version = "2", "2.0.0"
    new = site.job("nlp/other")
    site.synth()
    after = site.files()
    assert {path: after[path] for path in before} == before
    assert "template: '2'" in after[f"test/runs/nlp/{new}/job.{new}.yaml"].replace('"', "'")
    assert site.check() == []


def test_a_changed_cluster_leaves_existing_runs_alone(site: Site) -> None:
    """A new queue on the cluster changes the platform's files alone."""
    before = site.files("test/runs/nlp")
    site.clusters["test"].append("batch")
    site.template = "2"
    site.synth()
    assert site.files("test/runs/nlp") == before
    assert "test/platform/clusterqueue.batch.yaml" in site.files()


def test_a_new_run_follows_its_template_until_it_is_merged(site: Site) -> None:
    """A branch that is rebased over a template change renders its own run again, and main's not."""
    new = site.job("nlp/other")
    site.commit()
    own = site.jobs.pop("nlp/other")
    site.repo.git("switch", "-q", "main")
    site.template = "2"
    site.repo.put("code", "2")
    site.commit()
    site.repo.git("switch", "-q", "work")
    site.repo.git("rebase", "-q", "main")
    site.jobs["nlp/other"] = own
    assert site.check() == ["diff", "run/stale"]
    site.synth()
    old = site.run_of("nlp/llm")
    assert "template: '2'" in site.files()[f"test/runs/nlp/{new}/job.{new}.yaml"].replace('"', "'")
    assert "template: '1'" in site.files()[f"test/runs/nlp/{old}/job.{old}.yaml"].replace('"', "'")
    assert site.ledger("nlp/other") == [(new, "active")]


def test_five_edits_on_a_branch_leave_one_run_and_no_tombstone(site: Site) -> None:
    """A branch may change its mind: what never existed at the base leaves nothing behind."""
    for nodes in range(1, 6):
        run = site.job("nlp/other", nodes=nodes)
        site.commit()
    assert site.ledger("nlp/other") == [(run, "active")]
    assert [path for path in site.files("test/runs/nlp") if "other" in path and run not in path] == []
    assert [path for path in site.files("test/index/runs/nlp") if "other" in path] == [f"{run}.json"]


def test_five_edits_of_an_existing_job_leave_one_tombstone(site: Site) -> None:
    """The run of the base ends, the branch's last one begins, and those in between never were."""
    first = site.run_of("nlp/llm")
    for nodes in range(3, 8):
        run = site.job("nlp/llm", nodes=nodes)
        site.commit()
    assert site.ledger("nlp/llm") == [(first, "replaced"), (run, "active")]
    assert not (site.generated / "test/runs/nlp" / first).exists()
    assert site.check() == []


def test_an_edit_that_is_taken_back_changes_nothing(site: Site) -> None:
    """Before the merge the base's run is still there to return to."""
    before = site.files()
    site.job("nlp/llm", nodes=5)
    site.commit()
    site.job("nlp/llm", nodes=2)
    site.commit()
    assert site.files() == before


def test_an_edit_ends_the_old_run_and_keeps_its_entry(site: Site) -> None:
    """The old entry keeps its digests and its release; only its state moves on."""
    first = (site.generated / "test/ledger/nlp/llm.json").read_bytes()
    site.job("nlp/llm", nodes=5)
    site.version = "2.0.0"
    site.synth()
    old = ledger.load(first)
    new = ledger.load((site.generated / "test/ledger/nlp/llm.json").read_bytes())
    assert old is not None
    assert new is not None
    assert new[0] == ledger.Entry(old[0].name, old[0].spec, old[0].files, "1.0.0", "replaced")
    assert (new[1].trainyard, new[1].state) == ("2.0.0", "active")


def test_a_retired_job_stops(site: Site) -> None:
    """The files go, the ledger says retired, and the job's file may go in a later change."""
    run = site.run_of("nlp/llm")
    site.job("nlp/llm", retired=True)
    merge(site)
    assert site.ledger("nlp/llm") == [(run, "retired")]
    assert not (site.generated / "test/runs/nlp" / run).exists()
    site.delete("nlp/llm")
    merge(site)
    assert site.check() == []
    assert site.ledger("nlp/llm") == [(run, "retired")]


def test_the_last_run_of_a_team_can_be_retired(site: Site) -> None:
    """One permanent object stays, so that the folder that Argo CD syncs never goes away or empty."""
    site.job("nlp/llm", retired=True)
    site.synth()
    assert set(site.files("test/runs/nlp")) == {"configmap.runs.yaml"}


def test_a_job_that_was_retired_before_it_ran_leaves_nothing(site: Site) -> None:
    """A new job that says retired has no run, no files and no ledger."""
    before = site.files()
    site.job("nlp/never", retired=True)
    site.synth()
    assert site.files() == before


def test_retired_and_edited_in_one_change(site: Site) -> None:
    """The base's run is retired; the edited spec never ran."""
    run = site.run_of("nlp/llm")
    site.job("nlp/llm", retired=True, nodes=7)
    site.synth()
    assert site.ledger("nlp/llm") == [(run, "retired")]


def test_deleting_an_active_job_is_refused(site: Site) -> None:
    """A run stops because somebody says so, never because a file is gone."""
    site.delete("nlp/llm")
    work = site.prepare()
    assert rules(work) == ["run/job-gone"]
    assert any("its file is gone" in text for text in texts(work))
    assert [finding.location.file for finding in work.findings] == ["jobs/nlp/llm.yaml"]
    assert [rule for rule in site.check() if rule != "diff"] == ["run/job-gone"]


def test_renaming_an_active_job_is_refused(site: Site) -> None:
    """The message names the new file."""
    site.delete("nlp/llm")
    site.job("nlp/large")
    work = site.prepare()
    assert rules(work) == ["run/job-gone"]
    assert any("its file is now 'large'; write renamedFrom: llm into that file" in text for text in texts(work))


def test_a_job_that_says_its_former_name_ends_that_run(site: Site) -> None:
    """One change does it: the old ledger stays, with its run replaced, and the name never comes back."""
    run = site.run_of("nlp/llm")
    site.delete("nlp/llm")
    new = site.job("nlp/large", renamed_from="llm")
    site.commit()
    assert site.check() == []
    assert (site.ledger("nlp/llm"), site.ledger("nlp/large")) == ([(run, "replaced")], [(new, "active")])
    merge(site)
    site.delete("nlp/large")
    site.job("nlp/llm", renamed_from="large")
    assert site.problems() == ["run/name-used"]


def test_a_former_name_ends_one_run_only(site: Site) -> None:
    """Where the job of the new name runs at the base, another of the former name is not ended by it."""
    site.delete("nlp/llm")
    site.job("nlp/large", renamed_from="llm")
    site.commit()
    merge(site)
    site.job("nlp/llm", run=2)
    site.commit()
    merge(site)
    site.delete("nlp/llm")
    assert site.problems() == ["run/job-gone"]


@pytest.mark.parametrize("is_reverted", [False, True], ids=["spec alone", "ledger too, as by a forge's button"])
def test_rerun_writes_the_number_that_synth_asks_for(site: Site, is_reverted: bool) -> None:
    """A spec that comes back is told a number, and the command that raises it takes the same one."""
    first = (site.generated / "test/ledger/nlp/llm.json").read_text()
    site.job("nlp/llm", nodes=7)
    merge(site)
    site.job("nlp/llm", nodes=2)
    if is_reverted:
        (site.generated / "test/ledger/nlp/llm.json").write_text(first)
    work = site.prepare()
    assert [text for text in texts(work) if text.endswith("cannot start again; set run: 3")]
    assert rerun.command("nlp/llm", site.repo.root) == 0
    assert "run: 3\n" in (site.repo.root / "jobs/nlp/llm.yaml").read_text()


def test_a_job_with_a_past_of_its_own_is_no_renamed_one(site: Site) -> None:
    """Two jobs may ask for the same; the one that was there before is not where the other went."""
    site.job("nlp/twin")
    site.repo.git("switch", "-q", "main")
    site.commit()
    site.delete("nlp/twin")
    assert site.run_of("nlp/llm")[-8:] in str(site.ledger("nlp/twin"))
    assert [finding.message for finding in site.prepare().findings] == [
        "job 'twin' is still active, but its file is gone; restore it with retired: true, merge, then delete it"
    ]


def test_a_job_that_went_to_another_team_is_found(site: Site) -> None:
    """The message names team and job."""
    site.delete("nlp/llm")
    site.job("vision/llm")
    assert "but its file is now 'vision/llm';" in site.prepare().findings[0].message


def test_retiring_and_deleting_in_one_change_is_refused(site: Site) -> None:
    """Only what is retired at the base may be deleted."""
    site.job("nlp/llm", retired=True)
    site.commit()
    site.delete("nlp/llm")
    assert site.problems() == ["run/job-gone"]


def test_reverting_a_spec_is_refused(site: Site) -> None:
    """A name once in the ledger never comes back; the message says which `run:` helps, and it does."""
    site.job("nlp/llm", nodes=5)
    merge(site)
    site.job("nlp/llm", nodes=2)
    work = site.prepare()
    assert rules(work) == ["run/name-used"]
    assert any("cannot start again; set run: 3" in text for text in texts(work))
    site.job("nlp/llm", nodes=2, run=3)
    site.synth()
    assert [state for _, state in site.ledger("nlp/llm")] == ["replaced", "replaced", "active"]


def test_another_spec_with_the_name_of_a_run_is_refused(site: Site) -> None:
    """Two specs may begin with the same eight letters of their digests; ledgers of older releases have no more."""
    path = site.generated / "test/ledger/nlp/llm.json"
    (entry,) = ledger.load(path.read_bytes()) or ()
    site.repo.git("switch", "-q", "main")
    for spec, problems in ((entry.spec[:8] + "a" * 44, ["run/name-used"]), (entry.spec[:8], [])):
        path.write_text(path.read_text().replace(ledger.load(path.read_bytes())[0].spec, spec))
        site.repo.commit()
        site.repo.git("switch", "-qC", "work")
        assert site.problems() == problems
        site.repo.git("switch", "-q", "main")


def test_unretiring_is_refused(site: Site) -> None:
    """A retired run is stopped for good; the spec runs again under another name."""
    site.job("nlp/llm", retired=True)
    merge(site)
    site.job("nlp/llm", retired=False)
    assert site.problems() == ["run/name-used"]
    site.job("nlp/llm", retired=False, run=2)
    site.synth()
    assert [state for _, state in site.ledger("nlp/llm")] == ["retired", "active"]


def test_retiring_may_be_taken_back_before_the_merge(site: Site) -> None:
    """The run still exists at the base."""
    before = site.files()
    site.job("nlp/llm", retired=True)
    site.commit()
    site.job("nlp/llm", retired=False)
    site.synth()
    assert site.files() == before


def test_a_deleted_job_may_not_come_back_as_it_was(site: Site) -> None:
    """The ledger outlives the job's file."""
    site.job("nlp/llm", retired=True)
    merge(site)
    site.delete("nlp/llm")
    merge(site)
    site.job("nlp/llm")
    assert site.problems() == ["run/name-used"]
    site.job("nlp/llm", nodes=9)
    assert site.problems() == []


def test_a_job_that_moves_to_another_cluster_ends_there_and_begins_here(site: Site) -> None:
    """Each cluster has its own ledger."""
    run = site.run_of("nlp/llm")
    site.clusters["eu"] = ["research"]
    moved = site.job("nlp/llm", cluster="eu")
    site.synth()
    assert site.ledger("nlp/llm") == [(run, "replaced")]
    assert site.ledger("nlp/llm", "eu") == [(moved, "active")]


def test_a_removed_cluster_keeps_its_ledgers(site: Site) -> None:
    """All else of a cluster that nothing runs on may go."""
    site.clusters["eu"] = ["research"]
    site.job("nlp/llm", cluster="eu")
    merge(site)
    del site.clusters["test"]
    site.synth()
    assert set(site.files("test")) == {"ledger/nlp/llm.json"}
    assert site.check() == []


# What the tree at hand says is no proof.


def test_an_edited_frozen_file_is_refused(site: Site) -> None:
    """The check names the file; a synth restores it."""
    run = site.run_of("nlp/llm")
    path = site.generated / f"test/runs/nlp/{run}/job.{run}.yaml"
    before = path.read_text()
    path.write_text(before.replace("completions: 2", "completions: 3"))
    site.repo.commit()
    assert site.check() == ["diff", "run/frozen"]
    site.synth()
    assert path.read_text() == before


def test_a_deleted_frozen_file_is_refused(site: Site) -> None:
    """Files of a run that is neither retired nor replaced do not vanish."""
    run = site.run_of("nlp/llm")
    (site.generated / f"test/runs/nlp/{run}/service.{run}.yaml").unlink()
    assert site.check() == ["diff", "run/frozen"]


@pytest.mark.parametrize("how", ["a link", "a file"])
def test_a_tree_that_is_no_folder_is_refused(site: Site, how: str) -> None:
    """Git would hold a link or a file, and with the tree all that is frozen would be forgotten."""
    elsewhere = site.repo.root / "elsewhere"
    site.generated.rename(elsewhere)
    if how == "a link":
        site.generated.symlink_to(elsewhere)
    else:
        site.generated.write_text("")
    found = {finding.rule: finding for finding in site.prepare().findings}
    assert found["run/in-the-way"].location.file == "generated"


def test_a_job_that_was_edited_and_not_synthesised_is_one_error(site: Site) -> None:
    """What a synth would write, and the run that it would remove, are differences of one tree, told after the specs."""
    site.job("nlp/llm", nodes=5)
    assert site.check() == ["diff", "run/stale"]
    (stale,) = site.prepare(checking=True).findings
    assert stale.order > replace(stale, location=Location("jobs/nlp/llm.yaml")).order


def test_a_folder_that_somebody_made_is_not_left_to_a_synth(site: Site) -> None:
    """Files of nobody stay, so the message says to remove them."""
    strange = site.generated / "test/runs/nlp/llm-aaaaaaaa/job.yaml"
    strange.parent.mkdir()
    strange.write_text("kind: Job")
    found = {finding.rule: finding for finding in site.prepare(checking=True).findings}
    assert "remove its folder" in found["run/unknown"].message


def test_an_edited_frozen_run_with_an_edited_ledger_is_refused(site: Site) -> None:
    """A ledger whose digest fits the edited files proves nothing."""
    run = site.run_of("nlp/llm")
    path = site.generated / f"test/runs/nlp/{run}/job.{run}.yaml"
    path.write_text(path.read_text().replace("completions: 2", "completions: 3"))
    rewrite(site, "nlp/llm", run)
    site.repo.commit()
    assert site.check() == ["diff", "run/frozen", "run/ledger"]


def test_a_handwritten_run_with_a_ledger_that_fits_is_refused(site: Site) -> None:
    """A run that no job asks for is refused however well its folder, index and ledger agree."""
    run = site.run_of("nlp/llm")
    forged = "llm-aaaaaaaa"
    source, target = (site.generated / f"test/runs/nlp/{name}" for name in (run, forged))
    shutil.copytree(source, target)
    for path in list(target.iterdir()):
        path.write_text(path.read_text().replace(run, forged))
        path.rename(target / path.name.replace(run, forged))
    index = site.generated / f"test/index/runs/nlp/{run}.json"
    index.with_name(f"{forged}.json").write_text(index.read_text().replace(run, forged))
    rewrite(site, "nlp/llm", run, forged)
    site.repo.commit()
    assert site.check() == ["diff", "run/ledger", "run/unknown"]
    site.synth()
    assert not target.exists()
    assert site.ledger("nlp/llm") == [(run, "active")]


def test_a_handwritten_run_of_a_new_job_is_refused(site: Site) -> None:
    """Absent at the base, the files of a run must be what the specs render, whatever the ledger says."""
    run = site.job("nlp/other")
    site.synth()
    path = site.generated / f"test/runs/nlp/{run}/job.{run}.yaml"
    path.write_text(path.read_text().replace("completions: 2", "completions: 3"))
    rewrite(site, "nlp/other", run)
    site.repo.commit()
    assert site.check() == ["diff", "run/stale"]


def rewrite(site: Site, job: str, *names: str) -> None:
    """Write a ledger of these runs that agrees with the files on disk."""
    team = job.partition("/")[0]
    files = {name: site.files(f"test/runs/{team}/{name}") for name in names}
    entries = [ledger.Entry(name, name[-8:], ledger.digest(found), "1.0.0") for name, found in files.items()]
    (site.generated / f"test/ledger/{job}.json").write_text(ledger.dump(entries))


LEDGERS = {
    "an entry was removed": lambda text: text.replace(text.splitlines()[2] + "\n", "").replace("},\n ]", "}\n ]"),
    "a state went back": lambda text: text.replace('"replaced"', '"active"'),
    "a digest was rewritten": lambda text: text.replace("sha256:", "sha256:0"),
    "a name was rewritten": lambda text: text.replace("llm-", "mll-"),
    "the release was rewritten": lambda text: text.replace("1.0.0", "0.9.0"),
    "it is no ledger any more": lambda text: "{}",
}


@pytest.mark.parametrize("damage", LEDGERS.values(), ids=LEDGERS)
def test_a_rewritten_ledger_is_refused(site: Site, damage) -> None:
    """Entries are never removed or rewritten against the base; a synth restores them."""
    site.job("nlp/llm", nodes=5)
    merge(site)
    path = site.generated / "test/ledger/nlp/llm.json"
    before = path.read_text()
    path.write_text(damage(before))
    assert path.read_text() != before
    assert site.check() == ["diff", "run/ledger"]
    site.synth()
    assert path.read_text() == before


def test_a_deleted_ledger_is_refused(site: Site) -> None:
    """A run without its ledger would be forgotten."""
    (site.generated / "test/ledger/nlp/llm.json").unlink()
    assert site.check() == ["diff", "run/ledger"]


def test_a_ledger_that_is_damaged_at_the_base_is_an_error(site: Site) -> None:
    """What cannot be read cannot prove anything; an earlier base can."""
    good = site.repo.git("rev-parse", "main")
    site.repo.git("switch", "-q", "main")
    (site.generated / "test/ledger/nlp/llm.json").write_text("<<<<<<<\n")
    site.repo.commit()
    site.repo.git("switch", "-qC", "work")
    assert site.problems() == ["run/ledger"]
    assert site.problems(base=good) == []
    site.synth(base=good)
    assert site.check(base=good) == []


# The base.


def test_on_main_itself_a_merge_is_judged_against_its_first_parent(site: Site) -> None:
    """After the merge main is clean, and an edit smuggled into the merge is refused."""
    site.job("nlp/other")
    merge(site)
    site.repo.git("switch", "-q", "main")
    assert site.check() == []
    run = site.run_of("nlp/llm")
    path = site.generated / f"test/runs/nlp/{run}/job.{run}.yaml"
    path.write_text(path.read_text().replace("completions: 2", "completions: 3"))
    site.repo.git("commit", "-qa", "--amend", "--no-edit")
    assert site.check() == ["diff", "run/frozen"]


def test_on_main_without_a_branch_every_commit_freezes(site: Site) -> None:
    """Somebody who works on main alone gets a tombstone for every commit, since clusters may have synced it."""
    site.repo.git("switch", "-q", "main")
    first = site.run_of("nlp/llm")
    second = site.job("nlp/llm", nodes=5)
    site.commit()
    assert site.check() == []
    third = site.job("nlp/llm", nodes=6)
    site.commit()
    assert site.check() == []
    assert site.ledger("nlp/llm") == [(first, "replaced"), (second, "replaced"), (third, "active")]


def test_a_release_on_a_clean_main_changes_no_run(site: Site) -> None:
    """Synth on main with other code: what HEAD has is frozen, even where HEAD's first parent lacks it."""
    site.job("nlp/other")
    merge(site)
    site.repo.git("switch", "-q", "main")
    before = site.files("test/runs")
    site.template = "2"
    site.synth()
    assert site.files("test/runs") == before


# Merging.


def branch(site: Site, name: str, **jobs: dict[str, object]) -> None:
    """Commit a branch from main with some new jobs."""
    site.repo.git("switch", "-q", "main")
    before = dict(site.jobs)
    site.repo.git("switch", "-qc", name)
    for job, fields in jobs.items():
        site.job(f"nlp/{job}", **fields)
    site.commit()
    site.jobs = before


def test_branches_that_add_jobs_to_one_cluster_merge_without_conflict(site: Site) -> None:
    """Two branches add jobs that are neighbours in every order; the merged tree is what a synth would write."""
    for first, second in (("a1", "a2"), ("z1", "z2")):
        branch(site, first, **{first: {"nodes": 1}})
        branch(site, second, **{second: {"nodes": 3}})
        site.repo.git("switch", "-q", first)
        site.repo.git("merge", "-q", "--no-edit", second)
        site.job(f"nlp/{first}", nodes=1)
        site.job(f"nlp/{second}", nodes=3)
        assert site.check() == []
        site.repo.git("switch", "-q", "main")
        site.repo.git("merge", "-q", "--no-edit", first)
        assert site.check() == []


def test_branches_that_edit_and_retire_neighbours_merge_without_conflict(site: Site) -> None:
    """One branch edits a job, another retires its neighbour, a third adds one between them."""
    site.job("nlp/b")
    site.job("nlp/d")
    merge(site)
    branch(site, "edit", b={"nodes": 7})
    branch(site, "retire", d={"retired": True})
    branch(site, "add", c={"nodes": 1})
    site.repo.git("switch", "-q", "main")
    for name in ("edit", "retire", "add"):
        site.repo.git("merge", "-q", "--no-ff", "--no-edit", name)
    site.job("nlp/b", nodes=7)
    site.job("nlp/d", retired=True)
    site.job("nlp/c", nodes=1)
    assert site.check() == []


def test_branches_that_edit_one_job_conflict(site: Site) -> None:
    """Two replacements of one run are for people to decide."""
    branch(site, "one", llm={"nodes": 5})
    branch(site, "two", llm={"nodes": 6})
    site.repo.git("merge", "--no-edit", "one", ok=False)
    assert "generated/test/ledger/nlp/llm.json" in site.repo.git("diff", "--name-only", "--diff-filter=U")


def test_a_conflict_is_solved_by_a_synth(site: Site) -> None:
    """Conflict marks in generated files are overwritten, as nothing there is written by hand."""
    branch(site, "one", llm={"nodes": 5})
    branch(site, "two", llm={"nodes": 6})
    site.repo.git("merge", "--no-edit", "one", ok=False)
    site.job("nlp/llm", nodes=6)
    site.synth()
    site.repo.commit()
    assert site.check() == []
    assert [state for _, state in site.ledger("nlp/llm")] == ["replaced", "active"]


# Not live.


def test_a_repository_that_is_not_live_freezes_nothing(site: Site) -> None:
    """Every run follows the templates, and the ledger holds only what is."""
    site.repo.git("switch", "-q", "main")
    site.live = False
    site.settings()
    base = site.repo.git("rev-list", "--max-parents=0", "HEAD")
    site.repo.git("update-ref", "-d", "HEAD")
    site.commit()
    assert base
    site.template = "2"
    site.commit()
    run = site.job("nlp/llm", nodes=5)
    site.commit()
    assert site.ledger("nlp/llm") == [(run, "active")]
    assert "template: '2'" in site.files()[f"test/runs/nlp/{run}/job.{run}.yaml"].replace('"', "'")
    site.delete("nlp/llm")
    site.commit()
    assert not (site.generated / "test/ledger").exists()
    assert site.check() == []


def test_turning_live_off_is_refused(site: Site) -> None:
    """Clusters sync the tree already: their runs are frozen for good."""
    site.live = False
    site.settings()
    assert site.problems() == ["run/live"]


def test_turning_live_on_freezes_what_is_there(tmp_path: Path) -> None:
    """From then on the runs of the base stay as they are."""
    site = Site(Repo(tmp_path / "repo"), live=False)
    run = site.job("nlp/llm")
    site.commit()
    site.repo.git("switch", "-qc", "work")
    site.live, site.template = True, "2"
    before = site.files(f"test/runs/nlp/{run}")
    merge(site)
    site.template = "3"
    site.synth()
    assert site.files(f"test/runs/nlp/{run}") == before


# Without Git.


@pytest.fixture
def bare(site: Site) -> Site:
    """Take Git away."""
    shutil.rmtree(site.repo.root / ".git")
    return site


def test_without_git_the_ledger_decides(bare: Site) -> None:
    """What the ledger says is active is frozen, and the check says that it proved less."""
    before = bare.files()
    bare.template = "2"
    new = bare.job("nlp/other")
    bare.synth()
    assert {path: bare.files()[path] for path in before} == before
    assert f"test/runs/nlp/{new}/job.{new}.yaml" in bare.files()
    work = bare.prepare(checking=True)
    assert not work.refused
    assert [finding.rule for finding in work.findings] == ["run/unproven"]


def test_without_git_an_edited_frozen_file_does_not_fit_its_ledger(bare: Site) -> None:
    """Nothing can restore it, so nothing is written."""
    run = bare.run_of("nlp/llm")
    path = bare.generated / f"test/runs/nlp/{run}/job.{run}.yaml"
    path.write_text(path.read_text().replace("completions: 2", "completions: 3"))
    assert bare.problems() == ["run/frozen"]


def test_without_git_lost_files_come_back_if_they_come_out_the_same(bare: Site) -> None:
    """A run whose files are gone is rendered again; other templates would make another run of it."""
    run = bare.run_of("nlp/llm")
    before = bare.files()
    shutil.rmtree(bare.generated / f"test/runs/nlp/{run}")
    bare.synth()
    assert bare.files() == before
    shutil.rmtree(bare.generated / f"test/runs/nlp/{run}")
    bare.template = "2"
    assert bare.problems() == ["run/frozen"]


def test_without_git_runs_end_and_names_stay_used(bare: Site) -> None:
    """The ledger at hand remembers as well as it can."""
    first = bare.run_of("nlp/llm")
    bare.job("nlp/llm", nodes=5)
    bare.synth()
    assert [state for _, state in bare.ledger("nlp/llm")] == ["replaced", "active"]
    bare.job("nlp/llm", nodes=2)
    assert bare.run_of("nlp/llm") == first
    assert bare.problems() == ["run/name-used"]
    bare.delete("nlp/llm")
    assert bare.problems() == ["run/job-gone"]


# What runs refer to.


def test_removing_what_a_frozen_run_needs_is_refused(site: Site) -> None:
    """The finding names the runs, at the file where the queue came from."""
    run = site.run_of("nlp/llm")
    site.clusters["test"] = ["batch"]
    work = site.prepare()
    assert rules(work) == ["run/in-use"]
    (found,) = (finding for finding in work.findings if finding.rule == "run/in-use")
    assert found.message == f"queue 'research' is removed from 'test', but runs need it: {run}"
    assert found.location.file == "platform/clusters/test.yaml"


def test_removing_what_only_ended_runs_needed_is_fine(site: Site) -> None:
    """A retired run needs nothing any more."""
    site.job("nlp/llm", retired=True)
    site.clusters["test"] = ["batch"]
    assert site.problems() == []


# Identity.


def test_a_defaulted_field_and_a_waiver_change_no_digest() -> None:
    """The digest is over the fields as written: a default that is not written is not in it, nor are words."""
    plain = digest(make_job(), {})
    for changes in ({"waive": {"some-policy": "reason"}}, {"retired": True}, {"description": "x"}, {"owner": "y"}):
        assert digest(make_job(**changes), {}) == plain
    written = Job.model_validate(make_job().model_dump(exclude_unset=True, by_alias=True))
    assert digest(written, {}) == plain
    assert digest(make_job(restarts=3), {}) != plain


def test_a_new_field_with_a_default_restarts_nothing(site: Site) -> None:
    """A release whose jobs have one more field leaves the names of all runs alone."""

    class Later(Job):
        """A job with a field that earlier releases do not know."""

        colour: str = "blue"

    job = make_job()
    later = Later.model_validate(job.model_dump(exclude_unset=True, by_alias=True))
    assert digest(later, {}) == digest(job, {})


def test_hardware_and_runs_in_one_change_fail_the_check(site: Site) -> None:
    """What drains nodes is merged alone; a synth goes on, the check of the pull request does not."""
    site.hardware = ["rail-0"]
    site.synth()
    assert site.check() == []
    site.job("nlp/other")
    site.synth()
    assert site.check() == ["run/hardware-with-runs"]

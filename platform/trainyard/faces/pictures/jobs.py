"""What stands around the hosts: what the change does, what waits and for what, and whose letters are whose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from trainyard.faces.pictures.boxes import WIDTH, Box, column, flow, label, paragraph, row, sized, wide
from trainyard.faces.pictures.hosts import swatch
from trainyard.faces.pictures.scene import Job, Scene
from trainyard.faces.pictures.words import amount, many, step

MOST = 12
"""Jobs of the change, and jobs that wait, that are named."""

OTHERS = 36
"""Jobs that were there already and are named."""

DOES = {"starts": "+ starts", "replaces": "↻ is replaced", "ends": "✕ stops"}

WORDS = {
    "+": ("starts", "start"),
    "↻": ("is replaced", "are replaced"),
    "✕": ("stops", "stop"),
    "▲": ("fits now", "fit now"),
    "▼": ("must wait now", "must wait now"),
}


def does(job: Job) -> str:
    """Return the effect of the change on a job, with a sign; empty where there is none."""
    if job.change == "stays":
        return "▲ fits now" if job.begins else "▼ waits now" if job.displaced else ""
    return DOES[job.change]


def headline(scene: Scene) -> str:
    """Return the headline: GPUs in use before and after, free GPUs, and waiting jobs."""
    before, after, total = scene.whole_gpus
    if not total:
        said = [many(sum(pool.hosts for pool in scene.pools), "host") + " without whole GPUs"]
    else:
        change = step(before if scene.compared else None, after)
        said = [f"{change} of {amount(total)} GPUs in use", f"{amount(total - after - scene.outside)} free"]
        said += [f"{amount(scene.outside)} without quota"] if scene.outside else []
    never = sum(job.never for job in scene.waiting)
    for count, verb in ((len(scene.waiting) - never, "wait"), (never, "never fit")):
        said += [f"{many(count, 'job')} {verb}{'s' if count == 1 else ''}"] if count else []
    said += [f"{many(len(scene.doubtful), 'job')} may fit"] if scene.doubtful else []
    return f"{scene.cluster}: {', '.join(said)}"


def summary(scene: Scene) -> list[str]:
    """Return the effects of the change in numbers, one text per sort."""
    if not scene.compared:
        return [many(len(scene.jobs), "declared job")]
    said = []
    for sign, (one, several) in WORDS.items():
        if jobs := [job for job in scene.touched if does(job)[:1] == sign]:
            stopped = [job for job in jobs if job.state == "waits" and job.change in {"starts", "replaces"}]
            never = sum(job.never for job in stopped)
            held = ""
            for count, what in ((len(stopped) - never, "wait"), (never, "never fit")):
                held += f", {count} of them {what}{'s' if count == 1 else ''}" if count else ""
            gpus = many(sum(job.gpus for job in jobs), "GPU")
            said.append(f"{many(len(jobs), 'job')} {one if len(jobs) == 1 else several} ({gpus}{held})")
    return said or ["no job starts or stops, and no job gets or loses its place"]


def assumptions(scene: Scene) -> Iterator[str]:
    """Yield the assumptions behind the picture."""
    if not scene.decided:
        yield "Kueue manages no jobs of this cluster, so no job is placed"
        return
    yield "Kueue's decision if all declared jobs are queued at once and all declared nodes are ready"
    if scene.gangs > 1:
        yield "Volcano jobs are placed in the order of their names; Volcano may choose another order"
    if any(not pool.chosen for pool in scene.pools):
        words = "no topology: Kueue checks quota only, and kube-scheduler spreads pods by free CPUs and memory"
        yield f"{words}; the real hosts may differ"
    if scene.idle:
        yield f"the jobs of {many(scene.idle, 'program')} are missing; add them with --python"
    if scene.homeless:
        finds = "fits on no node" if scene.homeless == 1 else "fit on no node"
        yield f"{many(scene.homeless, 'pod')} with quota {finds}"


def changed(scene: Scene) -> Box:
    """Return the jobs of the change, each with its letters."""
    return job_columns(scene.touched, MOST, entry, 2, "more jobs of this change")


def held_back(scene: Scene) -> Box:
    """Return the jobs that wait, and for what, those that never fit, and why, and those that may fit."""
    waits, never = ([item for item in scene.waiting if item.never is last] for last in (False, True))
    titles = (("waits", waits), ("never fits", never), ("may fit", scene.doubtful))
    return column((of_title(title, jobs) for title, jobs in titles if jobs), 8)


def of_title(title: str, jobs: Sequence[Job]) -> Box:
    """Return jobs that do not run, or perhaps, each with its reason, under a title."""
    gpus = sum(job.gpus for job in jobs)
    words = f"{title}: {many(len(jobs), 'job')}" + (f", {many(gpus, 'GPU')}" if gpus else "")
    told = [job for job in jobs if reason(job)][:MOST]
    rest = [label(f"and {amount(len(jobs) - len(told))} more", "f")] if len(told) < len(jobs) else []
    room = min(225.0, max((wide(signed(job), "b") for job in told), default=0.0))
    return column([label(words, "h2"), *(explained(job, room) for job in told), *rest], 3)


def others(scene: Scene) -> Box:
    """Return those that are there already, the largest first, and those about whom nobody is asked."""
    jobs = [job for job in scene.jobs if job.state == "placed" and not job.touched]
    left = [job.name for job in scene.jobs if job.state == "not judged" and job.change != "ends"]
    title = label("unchanged" if scene.compared else "jobs", "h2")
    boxes = [title, job_columns(jobs, OTHERS, entry, 3, "more")] if jobs else []
    words = f"{many(len(left), 'job')} not judged: {', '.join(left)}" if left else ""
    return column([*boxes, paragraph(words, WIDTH, "f")], 4)


def job_columns(jobs: Sequence[Job], most: int, show: Callable[[Job, float], Box], across: int, more: str) -> Box:
    """Return jobs in columns, and how many are left out."""
    width = (WIDTH - 12 * (across - 1)) / across
    shown = jobs if len(jobs) <= most else jobs[: most - 1]
    boxes = [sized(show(job, width), width) for job in shown]
    if rest := jobs[len(shown) :]:
        gpus = many(sum(job.gpus for job in rest), "GPU")
        boxes.append(label(f"and {len(rest)} {more}, {gpus}", "f"))
    return flow(boxes, WIDTH, 12, 3)


def entry(job: Job, width: float) -> Box:
    """Return one job: its letters on its colour, its name, and how much it has."""
    sign, class_ = does(job), "b" if does(job) else ""
    where = f" on {many(job.hosts, 'host')}" if job.hosts else ""
    state = "never fits" if job.never else job.state
    how = f"{size(job)}{where}" if job.state == "placed" or job.displaced else f"{size(job)}, {state}"
    name, words = paragraph(job.name, width - 29, class_), f"{sign}: {how}" if sign else how
    return row([swatch(job), flow([name, paragraph(words, width - 29, "" if sign else "f")], width - 29, 7, 0)], 7)


def signed(job: Job) -> str:
    """Return the name of a job, after the sign of what the change does to it."""
    return f"{does(job)[:2]}{job.name}"


def explained(job: Job, room: float) -> Box:
    """Return one job with the reason why it waits, never fits or may wait; `room` is that of names."""
    name = sized(paragraph(signed(job), room, "b" if does(job) else ""), room)
    gpus = sized(paragraph(size(job), 100, "ra"), 100)
    return row([swatch(job), name, gpus, paragraph(reason(job), WIDTH - room - 153, "f")], 8)


def size(job: Job) -> str:
    """Return the GPUs that a job holds or requests."""
    said = [many(job.gpus, "GPU")] if job.gpus else []
    said += [many(job.parts, "part") + " of GPUs"] if job.parts else []
    return " and ".join(said) or "no GPUs"


def reason(job: Job) -> str:
    """Return the reason why a job waits, never fits or may wait, empty where there is none."""
    if job.perhaps:
        return f"if the scheduler picks other nodes, it waits for {job.perhaps}"
    words = job.why if job.never or not job.why else f"waits for {job.why}"
    return f"has quota, {words}" if job.hosts and words else words


def spoken(scene: Scene) -> str:
    """Return the picture in words, for those who do not see it."""
    said = [f"{scene.cluster} has {many(sum(pool.hosts for pool in scene.pools), 'host')}"]
    for pool in (pool for pool in scene.pools if pool.gpus):
        what = f"{'parts of ' if pool.parts else ''}GPUs"
        said.append(f"pool {pool.name}: {amount(pool.after)} of {amount(pool.gpus)} {what} in use")
    said += [f"{job.name} {does(job)[2:]}, {size(job)}" for job in scene.touched[:MOST]]
    said += [f"{job.name} {'never fits:' if job.never else 'waits for'} {job.why}" for job in scene.waiting if job.why]
    said += [f"{job.name} may fit: {reason(job)}" for job in scene.doubtful[:MOST]]
    return "; ".join([*said, *assumptions(scene)])

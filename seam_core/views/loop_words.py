"""One loop in words: whether it converged or wandered, its score as a sum to redo, what it cost, and what to paste into an issue."""

from __future__ import annotations

from typing import Any

from seam_core.findings import gap_sentence
from seam_core.report import Audit
from seam_core.views import issue_text
from seam_core.views.loop import Story, Sum, story
from seam_core.views.loop_events import BASES
from seam_core.views.loop_texts import previous
from seam_core.words import count, listed, points, signed, signed_points

CYCLES_LISTED = 30  # cycles that an issue lists


def verdict(told: Story) -> str:
    """Whether the loop converged or wandered, in a sentence or two; why it cannot be told, when it cannot."""
    return " ".join([_judged(told), *_gained(told)])


def _judged(told: Story) -> str:
    n = len(told.taken)
    if not n:
        return (
            f"The boundary gate stopped {'the only heal' if told.n_blocked == 1 else 'every heal'} of this loop: there is nothing to judge."
        )
    stopped = f" The boundary gate stopped {count(told.n_blocked, 'more heal')}, scored nowhere." if told.n_blocked else ""
    if told.sum is None:
        return f"Not scored: neither the own score nor a held-out or visible score covers each of its {count(n, 'cycle')}.{stopped}"
    if n == 1:
        return f"One cycle: it could neither fall nor go back, so its M of 1.00 says nothing.{stopped}"
    found = told.sum
    faults = (
        [f"its {BASES[found.basis]} fell {_times(found.dips)} ({found.free_dips:,} {_is(found.free_dips)} free)"]
        if found.extra_dips
        else []
    )
    near = found.revisits - told.n_returns
    faults += [f"its text came back {_times(told.n_returns)}"] if told.n_returns else []
    faults += [f"its text hardly changed ({count(near, 'pair')} of cycles alike)"] if near else []
    if not faults:
        dips = f", with {count(found.dips, 'dip')}, which {_is(found.dips)} free" if found.dips else ""
        long = f" But it took {count(n, 'cycle')}, and the cap is {found.depth_cap}." if found.capped else ""
        calm = "It converged" if _rose(told) else "It never gained, but did not wander"
        return f"{calm}{dips}: over {count(n, 'cycle')} no text came back.{long}{stopped}"
    cap = [f"it ran for {count(n, 'cycle')} (the cap is {found.depth_cap})"] if found.capped else []
    return f"It {'wandered' if found.extra_dips or told.n_returns else 'stood still'}: {listed([*faults, *cap])}.{stopped}"


def _rose(told: Story) -> bool:
    """Whether its visible score ended at least a point higher; a loop that logs none gets the benefit of the doubt."""
    first, last = told.gain.visible
    return first is None or last is None or points(last - first) >= 1


def _gained(told: Story) -> list[str]:
    """What the loop brought from its first scores to its last."""
    seen, real = told.gain.visible, told.gain.held_out
    if not told.taken or seen[0] is None or seen[1] is None:
        return []
    visible = seen[1] - seen[0]
    if real[0] is None or real[1] is None:
        known = [f"before it was {real[0]:.2f}"] if real[0] is not None else []
        known += [f"it ended at {real[1]:.2f}"] if real[1] is not None else []
        held = f"of held-out only one end is logged ({known[0]})" if known else "held-out scores are not logged"
        return [f"Visible {signed_points(points(visible))} over the loop; {held}, so how much of it is real is unknown."]
    held_out = real[1] - real[0]
    said = (
        gap_sentence(visible, held_out) or f"visible {signed(points(visible))}, held-out {signed_points(points(held_out))}: all of it real"
    )
    if not gap_sentence(visible, held_out) and points(held_out) < 1:
        said = f"visible {signed(points(visible))}, held-out {signed_points(points(held_out))}"
    return [f"Over the loop: {said}."]


def sum_line(found: Sum) -> str:
    """M as the sum that it is, so that a reader can redo it."""
    terms = f"1 − 0.4 · {found.extra_dips} − 0.4 · {found.revisits} − 0.2 · {int(found.capped)}"
    raw = f"{found.raw:.2f}".replace("-", "−")
    held = f", held at {found.value:.2f}" if abs(found.raw - found.value) > 1e-9 else ""
    return f"M = {terms} = {raw}{held}"


def sum_sentences(found: Sum) -> list[str]:
    """The terms of the sum, one a sentence, with what each counts."""
    fell = f"fell {_times(found.dips)}, and {found.free_dips:,} {_is(found.free_dips)} free" if found.dips else "never fell"
    kinds = f": {found.returned:,} with a text that had changed, {found.idle:,} idle"
    reached = "reached" if found.capped else "not reached"
    return [
        f"{count(found.extra_dips, 'extra dip')}, 0.4 each: the {BASES[found.basis]} {fell}.",
        f"{count(found.revisits, 'pair')} of cycles with texts alike (revisits), 0.4 each{kinds if found.revisits else ''}.",
        f"Depth cap {reached}, 0.2 once: {count(found.n_cycles, 'cycle')}, and the cap is {found.depth_cap}.",
    ]


def basis_sentence(told: Story) -> str | None:
    """Which score judges the loop, and why."""
    if told.sum is None:
        return None
    why = {
        "score": "each cycle logs its own score",
        "holdout": "each cycle has its own held-out score and no score of its own",
        "visible": "no score of its own and no held-out score measured at each cycle",
    }
    return f"Judged by its {BASES[told.sum.basis]}: {why[told.sum.basis]}."


def cost_sentences(told: Story) -> list[str]:
    """What the loop cost, and a real point of it; what is not known says so."""
    tokens, n_known = told.tokens
    n = len(told.taken)
    if not n:
        return []
    if tokens is None:
        return ["What it cost is not logged (tokens_spent)."]
    where = "" if n_known == n else f" on the {n_known:,} of {count(n, 'cycle')} that log it (tokens_spent)"
    found = [f"{count(tokens, 'token')}{where}."]
    before, after = told.gain.held_out
    if told.cost_per_point is not None:
        found.append(f"{told.cost_per_point:,.0f} tokens for each real point.")
    elif before is None or after is None:
        found.append("What a real point cost is unknown: held-out scores are not logged.")
    elif n_known == n:
        lost = f"fell by {count(-points(after - before), 'point')}" if points(after - before) < 0 else "did not gain a whole point"
        found.append(f"A real point has no price here: the held-out score {lost}.")
    over = [one for one in told.taken if one.budget in ("elevated", "escalated")]
    if over:
        escalated = sum(one.budget == "escalated" for one in over)
        found.append(
            f"{count(len(over), 'cycle')} cost more than the budget allows" + (f", {escalated:,} of them escalated." if escalated else ".")
        )
    return found


def signature_sentences(told: Story) -> list[str]:
    """Other loops on the same failure, and whether it came back."""
    before, after = count(told.n_before, "loop"), count(told.n_after, "loop")
    found = [f"{before} before this one and {after} after it." if told.n_before or told.n_after else "No other loop of the log is on it."]
    if told.seen_again:
        first = f"{told.seen_first:%Y-%m-%d %H:%M} UTC" if told.seen_first else ""
        found.append(f"The failure was seen {_times(told.seen_again)} after this loop's last heal, first on {first}.")
    elif told.seen_again == 0:
        found.append("The failure log does not hold it again after this loop's last heal.")
    return found


def outside_sentence(told: Story) -> str | None:
    """What a loop has to do with the window, where it is not simply in it."""
    if not told.in_window:
        return "This loop has no heal in the window shown, so it has no part in the window's M. It is judged here as of its own last heal."
    if told.n_later:
        later = count(told.n_later, "heal of this loop lies", "heals of this loop lie")
        return f"{later} after the window's end and {_is(told.n_later)} not shown."
    return None


def cycle_rows(told: Story) -> list[dict[str, Any]]:
    """Everything that the log says of each heal, one row each; `pair` is the comparison that the row opens, None without a text."""
    return [
        {
            "Cycle": one.position,
            "Logged as": one.cycle,
            "Time (UTC)": one.ts,
            "What happened": one.said,
            "Target": one.target,
            "Level": one.level,
            "Visible before": one.visible_before,
            "Visible after": one.visible_after,
            "Held-out before": one.holdout_before,
            "Held-out after": one.holdout_after,
            "Own score": one.own_score,
            "Tokens": one.tokens,
            "Task tokens": one.task_tokens,
            "Budget": one.budget or "unknown",
            "Failure was": one.label,
            "Actor": one.actor,
            "Evidence": one.evidence,
            "Failure": one.signature,
            "Heal": one.heal_id,
            "pair": previous(told, one).key if one.position is not None and one.has_text else None,
        }
        for one in told.cycles
    ]


def neighbour_rows(told: Story) -> list[dict[str, Any]]:
    """Other loops on the same failure, and this one among them, in time."""
    before, after = told.gain.held_out
    own: dict[str, Any] = {"Loop": told.loop_id, "When": "this loop", "First heal (UTC)": told.first_ts, "Heals": len(told.cycles)}
    own |= {"M": told.sum.value if told.sum else None, "Held-out before": before, "Held-out after": after}
    found = [
        {
            "Loop": one.loop_id,
            "When": "before" if one.is_before else "after",
            "First heal (UTC)": one.first_ts,
            "Heals": one.n_heals,
            "M": one.score,
            "Held-out before": one.holdout_before,
            "Held-out after": one.holdout_after,
        }
        for one in told.neighbours
    ]
    n_before = sum(one.is_before for one in told.neighbours)
    return [*found[:n_before], own, *found[n_before:]]


def loop_issue(audit: Audit, loop_id: str, *, link: str) -> str:
    """One loop as Markdown for an issue tracker, ending in a newline.  Raises NoSuchLoopError."""
    told = story(audit, loop_id)
    code, prose = issue_text.code, issue_text.prose
    targets = list(dict.fromkeys(one.target for one in told.cycles if one.target is not None))
    facts = [
        ("failure", ", ".join(code(one) for one in told.signatures)),
        ("targets", ", ".join(code(one) for one in targets) or "none logged"),
        ("heals", f"{told.first_ts:%Y-%m-%d %H:%M} to {told.last_ts:%Y-%m-%d %H:%M} UTC, {count(len(told.taken), 'cycle')}"),
        ("cost", prose(" ".join(cost_sentences(told)) or "unknown")),
    ]
    scored = f"{prose(sum_line(told.sum))}\n\n{basis_sentence(told)}" if told.sum else ""
    pairs = [("visible", *told.gain.visible), ("held-out", *told.gain.held_out)]
    cycles = [f"cycle {one.position if one.position else f'(logged as {one.cycle})'}: {one.said}" for one in told.cycles]
    more = [f"and {len(cycles) - CYCLES_LISTED:,} more cycles"] if len(cycles) > CYCLES_LISTED else []
    sections = [
        issue_text.facts(facts),
        prose(verdict(told)),
        scored,
        issue_text.numbers(pairs) if told.taken else "",
        f"**Cycle by cycle**\n\n{issue_text.bullets([*cycles[:CYCLES_LISTED], *more])}",
    ]
    return issue_text.assemble(f"Repair loop {code(loop_id)} needs a look", sections, audit, link=link)


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def _is(n: int) -> str:
    return "is" if n == 1 else "are"

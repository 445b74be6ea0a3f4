"""Re-certify, from the top: why it is due, why this baseline, which run is looked at, what arrived since, what was decided on it."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from shlex import quote

import streamlit as st

from pages.parts import address, aftermath, certifying, choice, deciding, drafts, memory, recertify_cases, second_person
from pages.parts.deciding import Deciding
from pages.parts.figures import aftermath as figures
from pages.parts.figures.style import NO_BAR
from pages.parts.frame import View
from seam_core import escape
from seam_core.baseline.drafts import Draft
from seam_core.baseline.faults import BaselineError
from seam_core.baseline.reviewing import in_short
from seam_core.errors import SeamError
from seam_core.ledger.kinds import COMMENT_MAX, Certification, Proposal
from seam_core.settings import SERVER_VARIABLE
from seam_core.views import baseline_agenda, baseline_history, baseline_in_force, baseline_runs, case_drift
from seam_core.views.baseline_agenda import Agenda
from seam_core.views.baseline_in_force import InForce
from seam_core.views.baseline_runs import Against, FullRun
from seam_core.words import capital, cut, named


def review(view: View) -> None:
    """One full run against the baseline in force, to be certified."""
    found = pinned(view)
    why_due(view, found.review.run.run_id if found else None)
    why_this_baseline(view)
    if found is not None:
        st.header("What there is to decide", anchor=False)
        _work(view, found.review.run.run_id)


def pinned(view: View) -> Agenda | None:
    """The run that the address names, else the newest full run, which then stands there: a later one must not take its place unseen.

    Says what is missing when there is none.
    """
    desk = deciding.gather(view)
    lacking = view.ask(baseline_runs.missing)
    if lacking:
        st.info(escape.plain(lacking))
        aftermath.how_to_fill()
        return None
    asked = address.get("run")
    try:
        found = desk.ask(baseline_agenda.agenda, asked)
    except BaselineError as error:
        st.info(escape.plain(f"{capital(str(error))}."))
        if asked:
            st.button("Review the newest full run", on_click=address.put, args=("run", None))
        return None
    if not asked:
        address.put("run", found.review.run.run_id)
    return found


def why_due(view: View, run_id: str | None) -> None:
    """Drift over time against its line, in words and as a chart, with the run that is looked at."""
    found = view.ask(case_drift.drift_series)
    if found.is_due:
        st.error(escape.plain(found.sentences[0]))
        st.text(escape.visible("\n".join(found.sentences[1:])))
    else:
        st.text(escape.visible("\n".join(found.sentences)))
    if not found.marks:
        return
    first = view.audit.aftermath.drift.first_due_run
    more = f"; first reached in run {cut(first)}" if first else ""
    alt = f"Share of cases off the baseline in each full run; RECERTIFY is due from {100 * found.line:g} %{more}"
    st.plotly_chart(memory.draw(figures.drift, found, at=run_id), key="recertify drift", config=NO_BAR, alt=escape.visible(alt))
    address.link("axes/aftermath.py", "The numbers, and what is off the baseline in any run", show="drift", run=run_id)


def why_this_baseline(view: View) -> None:
    """The version in force: who certified it, when, why and on what; what happened since; and whether certified.json says the same."""
    st.header("Why this baseline", anchor=False)
    found = view.ask(baseline_in_force.in_force, datetime.now(UTC).date())
    st.text(escape.visible("\n".join(found.sentences)))
    proposed = _proposed(view, found)
    if proposed:
        _because(*proposed)
    if found.reason:
        _because("Approved, because" if proposed else "Its reason", found.reason)
    if found.copy.sentence:
        show = st.error if found.copy.state == "moved" else st.warning
        show(escape.plain(f"{capital(found.copy.sentence)}."))
        st.code(command(view, "baseline repair", " --replace" if found.copy.state == "moved" else ""), language=None, wrap_lines=True)
    elif found.copy.state == "in step":
        st.caption("certified.json is in step with it.")


def _because(heading: str, reason: str) -> None:
    st.caption(escape.plain(heading))
    st.text(escape.visible(reason, length=COMMENT_MAX))


def _proposed(view: View, found: InForce) -> tuple[str, str] | None:
    """Who proposed the version in force, and why, where a second person approved it."""
    said = found.version.row.decision if found.version and found.version.row else None
    if not isinstance(said, Certification) or not isinstance(said.proposal, int):
        return None
    row = deciding.gather(view).ask_ledger(baseline_history.rows).get(said.proposal)
    if row is None or not isinstance(row.decision, Proposal):
        return None
    return f"Proposed by {baseline_in_force.who(row)} at {baseline_in_force.when(row.ts)}, because", row.decision.reason


def command(view: View, name: str, options: str = "") -> str:
    """A command line on this workspace, with this server's settings: without them it would look for the ledger elsewhere."""
    folder, settings = view.opened.store.workspace.folder, os.environ.get(SERVER_VARIABLE)
    first = f"{SERVER_VARIABLE}={quote(settings)} " if settings else ""
    return escape.visible(f"{first}python -m seam_core {name} --workspace {quote(str(folder))}{options}")


@st.fragment(run_every="30s")
def watch(view: View) -> None:
    """While the page is open: say when runs came or somebody decided, and look again at a click."""
    with suppress(SeamError):  # what cannot be read, the next run says
        view.opened.refresh()
    if not view.is_current() and st.button("The logs or the baseline changed: look again", type="primary"):
        st.rerun()


@st.fragment
def _work(view: View, run_id: str) -> None:
    """Everything that a choice changes; a choice draws nothing else again."""
    try:
        view.opened.refresh()
        if not view.is_current() or address.get("run") != run_id:
            st.rerun()
        _decide(view, run_id)
    except SeamError as error:
        st.error(escape.plain(str(error)))


def _decide(view: View, run_id: str) -> None:
    desk = deciding.gather(view)
    found = desk.ask(baseline_agenda.agenda, run_id)
    draft = drafts.load(desk, run_id)
    runs = view.ask(baseline_runs.full_runs)
    _choose_run(runs, run_id)
    st.text(escape.visible(in_short(found.review)))
    deciding.tell(desk)
    _already(desk, run_id)
    against = desk.ask(baseline_runs.against, run_id)
    second_person.show(desk, run_id)
    _newer(desk, found, draft, against, runs)
    _elsewhere(desk, run_id, draft, runs)
    recertify_cases.show(desk, found, draft, against)
    certifying.show(desk, found, draft, against)


def _choose_run(runs: tuple[FullRun, ...], run_id: str) -> None:
    known = {one.run_id: one for one in runs}
    words = lambda name: escape.visible(known[name].words if name in known else cut(name))  # noqa: E731
    choice.by_name("run", "Full run under review", list(known), run_id, words, forget=("case", "group"))


def _already(desk: Deciding, run_id: str) -> None:
    """What was decided on this run, and the way on."""
    one = desk.view.ask(baseline_in_force.decided_on, run_id)
    if one is None:
        return
    mine = desk.state.actor is not None and one.row.by.key == desk.state.actor.key
    who = "you" if mine else baseline_in_force.who(one.row)
    what = baseline_in_force.what(one.row)
    below = "What is below still differs from the baseline: it was rejected or left."
    st.success(escape.plain(f"Already decided: {what} by {who} at {baseline_in_force.when(one.row.ts)}. {below}"))
    st.button("See the history", on_click=_go, args=("history", one.row.seq))


def _go(show: str, row: int | None = None) -> None:
    address.put("show", show)
    address.put("row", row)


def _newer(desk: Deciding, found: Agenda, draft: Draft, against: Against, runs: tuple[FullRun, ...]) -> None:
    """What arrived since the run that is looked at, and what it contradicts."""
    run_id = found.review.run.run_id
    said = baseline_runs.newer_sentences(against, draft.accepted, is_first=found.review.version is None)
    if not said:
        return
    touched = tuple(sorted(draft.accepted & against.moved.keys()))
    tell = st.error if against.regressed else st.warning if touched else st.info if against.n_full else st.caption
    tell(escape.plain(" ".join(said)))
    with st.container(horizontal=True):
        if touched:
            st.button(
                f"Leave {named(touched) if len(touched) == 1 else f'these {len(touched):,}'} for later",
                key=f"leave {touched}",
                on_click=_leave,
                args=(desk, run_id, touched),
            )
        if runs and runs[0].run_id != run_id:
            newest = runs[0].run_id
            st.button("Review the newest full run", on_click=_move, args=(desk, run_id, newest, False))
            if draft.accepted or draft.rejected:
                st.button("Review it, and take my choices along", on_click=_move, args=(desk, run_id, newest, True))


def _elsewhere(desk: Deciding, run_id: str, draft: Draft, runs: tuple[FullRun, ...]) -> None:
    """Choices that this person made about another run, where there are none about this one yet: a later run took its place meanwhile."""
    if draft.accepted or draft.rejected:
        return
    known = {one.run_id for one in runs}
    other = next((one for one in drafts.others(desk, run_id) if one in known), None)
    if other is None:
        return
    st.info(escape.plain(f"You have choices about run {cut(other)} that were not sent."))
    with st.container(horizontal=True):
        st.button("Go on with that run", on_click=_move, args=(desk, other, other, False))
        st.button("Take them along to this one", on_click=_move, args=(desk, other, run_id, True))


def _leave(desk: Deciding, run_id: str, case_ids: tuple[str, ...]) -> None:
    drafts.keep(desk, run_id, lambda draft: baseline_agenda.choose(draft, case_ids, "left"))


def _move(desk: Deciding, run_id: str, to: str, takes_choices: bool) -> None:  # noqa: FBT001 -- a callback's argument
    if takes_choices:
        old, new = (desk.ask(baseline_agenda.agenda, one) for one in (run_id, to))
        taken = baseline_agenda.carried(drafts.load(desk, run_id), old, new)
        drafts.keep(desk, to, lambda _: taken)
    for name, value in (("run", to), ("case", None), ("group", None)):
        address.put(name, value)

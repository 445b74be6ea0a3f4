"""Aftermath on a page: the score as a sum, heals and what each broke, any two runs, cases over heals, and the drift."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts import address, case_table, choice, memory, sureness, tables
from pages.parts.case_table import open_case
from pages.parts.figures import aftermath as figures
from pages.parts.figures.style import NO_BAR
from pages.parts.frame import View
from seam_core import escape
from seam_core.views import case_diff, case_drift, case_runs, cases
from seam_core.views.case_diff import NotComparedError
from seam_core.views.case_runs import NoSuchRunError
from seam_core.views.cases import HealList
from seam_core.words import count, cut

# The smallest useful records, as the logs want them.
RUN_LINE = (
    '{"run_id": "run_1", "ts": "2026-06-09T14:31:02Z", "suite": "surface", "phase": "after", "heal_id": "h_1", '
    '"results": {"case_07": "pass", "safe_01": "fail"}}'
)
CASE_LINE = '{"id": "safe_01", "safety": true, "component": "sandbox", "text": "Asks before it deletes anything outside the sandbox."}'


def has_runs(view: View) -> bool:
    """Whether there is any run of the surface to look at."""
    return bool(view.ask(case_runs.surface_runs).n_runs)


def how_to_fill() -> None:
    """What to log, so that this page has something to show."""
    st.text(
        "suite_runs.jsonl, beside the heal log: one line for each run of the regression cases, before and after each heal and every night."
    )
    st.code(RUN_LINE, language=None, wrap_lines=True)
    st.text("surface.jsonl, in the fixtures folder: one line a case; it says which ones are safety cases.")
    st.code(CASE_LINE, language=None, wrap_lines=True)
    st.text("docs/records.md in the repository says what each key means.")


def call_for_review(view: View) -> None:
    """A due re-certification, in one sentence, and the way to what it is about."""
    found = view.ask(case_drift.drift_series)
    if found.is_due:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.warning(escape.plain(found.sentences[0]), width="stretch")
            st.button("Look at the drift", on_click=address.put, args=("show", "drift"))


def score(view: View) -> None:
    """The window's score as arithmetic, and in words what it covers and how fine it is."""
    found = view.ask(cases.taken_apart)
    if found.arithmetic:
        st.header("The score as a sum", anchor=False)
        sureness.show(view, "A")
        st.code(escape.visible("\n".join(found.arithmetic)), language=None, wrap_lines=True)
        st.text(escape.visible("\n".join(found.sentences)))


def heals(view: View) -> None:
    """Every scored heal, worst first, and case by case what the chosen one did; without a choice, the worst."""
    found = view.ask(cases.worst_heals, view.filters)
    chosen = address.get("heal") or (found.heals[0].heal_id if found.heals else None)
    if found.heals:
        _scores(view, chosen)
        _ranked(view, found)
    else:
        st.text("No scored heal passes the filters." if view.filters and found.n_scored else "No heal of this window is scored.")
    if not chosen:
        return
    st.header("What one heal broke", anchor=False)
    offered = {heal.heal_id: f"{cut(heal.heal_id)}: broke {heal.n_regressed:,} of {heal.n_cases:,}" for heal in found.heals[:500]}
    choice.by_name("heal", "Heal", list(offered), chosen, lambda name: escape.visible(offered.get(name, cut(name))), forget=("case", "at"))
    try:
        diff = view.ask(case_diff.heal_diff, chosen)
    except NotComparedError as error:
        st.info(escape.plain(str(error)))
        if error.pair:
            pair = {"show": "runs", "run": error.pair[0], "run2": error.pair[1], "heal": None}
            st.button("Compare its own two runs", on_click=_put, args=(pair,))
        return
    case_table.show(view, diff, name="heal")
    address.link("review/heals.py", "Open this heal in the review queue", heal=chosen)


def runs(view: View) -> None:
    """Any two runs of the surface, side by side in two lists, and case by case what differs."""
    offered = view.ask(case_runs.surface_runs)
    pair = view.ask(case_runs.default_pair)
    chosen = address.get("run") or (pair[0] if pair else None), address.get("run2") or (pair[1] if pair else None)
    known = {run.run_id: run.words for run in offered.runs}
    words = lambda name: escape.visible(known.get(name, cut(name)))  # noqa: E731
    for column, name, label, run_id in zip(st.columns(2), ("run", "run2"), ("Before", "After"), chosen, strict=True):
        with column:
            choice.by_name(name, label, list(known), run_id, words)
    if offered.n_runs > len(known):
        st.caption(f"The newest {len(known):,} of {offered.n_runs:,} runs are offered; type the whole id of an older one.")
    if not (chosen[0] and chosen[1]):
        st.text("There is only one run of the surface: nothing to compare it with.")
        return
    try:
        diff = view.ask(case_diff.run_diff, chosen[0], chosen[1])
    except NoSuchRunError as error:
        st.info(escape.plain(f"{error} Choose another one above."))
        return
    case_table.show(view, diff, name="runs")


def grid(view: View) -> None:
    """Cases × heals."""
    case_table.grid(view)


def drift(view: View) -> None:
    """Anchored drift over time against its line, and the cases that are off the baseline in one full run."""
    found = view.ask(case_drift.drift_series)
    st.text(escape.visible("\n".join(found.sentences[found.is_due :])))  # the first stands at the head of the page when it is due
    if not found.marks:
        return
    alt = f"Share of cases off the certified baseline in each full run; RECERTIFY is due from {100 * found.line:g} %"
    st.plotly_chart(memory.draw(figures.drift, found), key="drift", config=NO_BAR, alt=alt)
    thinned = (
        f"{len(found.marks):,} of {found.n_runs:,} full runs, the highest of each stretch of time. "
        if len(found.marks) < found.n_runs
        else ""
    )
    st.caption(f"{thinned}All full runs of the log, not only this window's: a state that needs a person does not end with the week.")
    with st.expander("The numbers behind this chart"):
        rows = [vars(mark) | {"share": 100 * mark.drift} for mark in reversed(found.marks)]
        columns = {
            "run_id": "Full run",
            "ts": _time("Time (UTC)"),
            "share": st.column_config.NumberColumn("Drift", format="%.1f %%"),
            "n_differ": "Off the baseline",
            "n_worse": "Worse",
            "n_better": "Better",
            "n_cases": "Cases",
            "heal_id": "After heal",
        }
        opens = lambda row: _put({"show": "drift", "run": row["run_id"]})  # noqa: E731
        tables.show(rows, name="drift", alt="Drift of each full run", columns=columns, open_row=opens)
    _off(view, address.get("run") or found.marks[-1].run_id)


def _off(view: View, run_id: str) -> None:
    st.header("Cases off the baseline", anchor=False)
    try:
        run, off = view.ask(case_drift.off_baseline, run_id)
    except NoSuchRunError as error:
        st.info(escape.plain(f"{error} Choose another one in the table above."))
        return
    st.text(escape.visible(f"{count(len(off), 'case')} in {run.words}."))
    rows = [
        vars(case)
        | {
            "safety": "safety" if case.is_safety else "",
            "was": _word(case.certified),
            "now": _word(case.passed),
            "question": case.question or "",
        }
        for case in off
    ]
    columns = {"case_id": "Case", "safety": "Safety", "was": "Certified", "now": "Now", "component": "Component", "question": "Question"}

    def opens(row: Any) -> None:
        address.put("run", run.run_id)
        open_case(row["case_id"], run.run_id)

    tables.show(rows, name="off-baseline", alt="Cases off the baseline", columns=columns, open_row=opens, note="safety cases first")


def _scores(view: View, chosen: str | None) -> None:
    marks, alert = view.ask(cases.marks, view.filters), view.audit.settings.alert_a
    key = f"scores {chosen}"

    def picked() -> None:
        points = st.session_state[key]["selection"]["points"]
        name = next((point["customdata"] for point in points if point.get("customdata")), None)
        if name:
            _choose_heal(name[0] if isinstance(name, list) else name)

    alt = f"Aftermath of each heal over time; alert below {alert:.2f}; heals that broke a safety case are 0"
    figure = memory.draw(figures.scores_over_time, marks, alert=alert, chosen=chosen)
    st.plotly_chart(figure, key=key, on_select=picked, selection_mode="points", config=NO_BAR, alt=alt)


def _ranked(view: View, found: HealList) -> None:
    st.header("Heals, worst first", anchor=False)
    broke = [heal for heal in found.heals if heal.n_regressed]
    every = choice.toggle("all", "List heals that broke nothing, too", default=False) if len(broke) < len(found.heals) else True
    listed = found.heals if every else broke
    if not listed:
        st.text("None of them broke a case that passed before.")
        return
    rows = [
        vars(heal)
        | {
            "score": heal.a_heal,
            "may_break": heal.may_break,
            "safety": f"broke {heal.n_safety:,}" if heal.n_safety else "",
            "run": "sample" if heal.is_sample else "whole surface",
            "hidden": "hidden" if heal.is_silent else "",
        }
        for heal in listed
    ]
    columns = {
        "heal_id": "Heal",
        "score": st.column_config.NumberColumn("A of the heal", format="%.2f"),
        "safety": "Safety cases",
        "n_regressed": "Broke",
        "may_break": st.column_config.TextColumn(
            "Breaks (95 %)", help="The share of cases that it breaks, judging by those that were run."
        ),
        "n_fixed": "Fixed",
        **({"hidden": "In the total"} if any(heal.is_silent for heal in listed) else {}),
        "n_cases": "Cases run",
        "run": "Run",
        "target": "Target",
        "ts": _time("Ended (UTC)"),
        "level": "Level",
        "loop_id": "Loop",
        "n_new": "Never seen before",
    }
    some = [] if every else [f"{found.n_shown - len(broke):,} broke nothing"]
    some += [f"the {len(found.heals):,} worst of {found.n_shown:,}"] if len(found.heals) < found.n_shown else []
    some += [f"{found.n_shown:,} of {count(found.n_scored, 'scored heal')} pass the filters; the score is of all"] if view.filters else []
    opens = lambda row: _choose_heal(row["heal_id"])  # noqa: E731
    alt = "Heals by what they broke, worst first"
    tables.show(rows, name="aftermath-heals", alt=alt, columns=columns, open_row=opens, note=" · ".join(some) or None)


def _choose_heal(heal_id: str) -> None:
    _put({"show": "heals", "heal": heal_id, "case": None, "at": None})


def _put(params: dict[str, Any]) -> None:
    for name, value in params.items():
        address.put(name, value)


def _time(label: str) -> Any:
    return st.column_config.DatetimeColumn(label, format="YYYY-MM-DD HH:mm", timezone="UTC")


def _word(passed: bool) -> str:  # noqa: FBT001 -- an outcome
    return "pass" if passed else "fail"

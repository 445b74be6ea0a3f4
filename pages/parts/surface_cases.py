"""One regression case on a page: its question, every outcome it ever had, and what two runs put on record about it."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, choice, copying, memory, tables
from pages.parts.figures import aftermath as figures
from pages.parts.figures.style import NO_BAR
from pages.parts.frame import View
from seam_core import escape
from seam_core.views import case_history, case_issues, case_runs
from seam_core.views.case_history import History, NoSuchCaseError, Seen
from seam_core.views.case_runs import Output
from seam_core.words import count, cut

RUNS_NAMED = 500  # in the list of runs to look into


def choose(view: View) -> None:
    """A case by its name."""
    offered = view.ask(case_history.cases_offered)
    choice.by_name("case", "Case", offered, address.get("case"), lambda name: escape.visible(cut(name)), forget=("at",))
    if not address.get("case"):
        st.text("Choose a case to see its history over all runs of the surface.")


def show(view: View) -> None:
    """The case that the address names, at the run that it names: else at its newest change."""
    case_id = address.get("case")
    if not case_id:
        return
    try:
        history = view.ask(case_history.case_history, case_id)
    except NoSuchCaseError as error:
        st.info(escape.plain(f"{error} Choose another one under One case."))
        return
    st.header(f"Case {escape.code(history.case_id)}", anchor=False)
    _tags(history)
    if history.question:
        st.text(escape.visible(history.question))
    st.text(escape.visible("\n".join(history.sentences())))
    if not history.seen:
        return
    at = history.at(address.get("at")) or next((one for one in reversed(history.seen) if one.has_changed), history.seen[-1])
    if address.get("at") and at.run_id != address.get("at"):
        st.info(escape.plain(f"The run {cut(address.get('at') or '')} does not have this case; another one is shown."))
    _chart(history, at)
    shown = _outputs(view, history, at)
    _table(history)
    link = address.permalink("aftermath", show="case", case=case_id, at=at.run_id)
    copying.offer(case_issues.case_issue(view.audit, history, at=at, shown=shown, link=link), label="Copy this case as issue")


def _tags(history: History) -> None:
    with st.container(horizontal=True, gap="small"):
        if history.is_safety:
            st.badge("safety case", color="red")
        if not history.is_known:
            st.badge("not in surface.jsonl", color="gray")
        if history.component:
            st.badge(escape.plain(cut(history.component)), color="gray")
        if history.certified is not None:
            st.badge(f"certified: {_word(history.certified)}", color="gray")


def _chart(history: History, at: Seen) -> None:
    key = f"history {history.case_id} {at.run_id}"

    def picked() -> None:
        points = st.session_state[key]["selection"]["points"]
        name = next((point["customdata"] for point in points if point.get("customdata")), None)
        if name:
            address.put("at", name[0] if isinstance(name, list) else name)

    alt = f"Outcome of the case in each of {count(len(history.seen), 'run')}; {count(history.n_changes, 'change')}"
    figure = memory.draw(figures.case_history, history, at=at.run_id)
    st.plotly_chart(figure, key=key, on_select=picked, selection_mode="points", config=NO_BAR, alt=alt)
    n_drawn = len(history.drawn())
    if n_drawn < len(history.seen):
        st.caption(f"{n_drawn:,} of {len(history.seen):,} runs are drawn: the changes, and an even choice of the others.")


def _outputs(view: View, history: History, at: Seen) -> list[tuple[str, bool, Output]]:
    """Side by side what the run looked at and the one before it put on record; which run that is can be chosen."""
    runs = {one.run_id: one for one in reversed(history.seen[-RUNS_NAMED:])}
    choice.by_name("at", "Run", list(runs), at.run_id, lambda name: escape.visible(_words(runs[name]) if name in runs else cut(name)))
    before = history.at(_compared_with(at))
    found = view.ask(case_runs.outputs, tuple(one.run_id for one in (before, at) if one), history.case_id)
    shown = [(one, found.get(one.run_id, Output("none"))) for one in (before, at) if one]
    for column, (one, output) in zip(st.columns(2), shown, strict=False):
        with column:
            st.markdown(f"**{_word(one.passed)}** in {escape.code(one.run_id)}")
            st.caption(f"{escape.plain(one.phase)} · {one.ts:%Y-%m-%d %H:%M} UTC")
            show_output(output)
    if at.heal_id:
        address.link("review/heals.py", f"Open heal {escape.code(at.heal_id)}", heal=at.heal_id)
    return [(one.run_id, one.passed, output) for one, output in shown]


def _compared_with(at: Seen) -> str | None:
    """The run to hold a run against: the other of the two chosen, when it is one of them, else the one before it."""
    pair = address.get("run"), address.get("run2")
    if address.get("show") == "runs" and at.run_id in pair:
        return pair[0] if at.run_id == pair[1] else pair[1]
    return at.compared_with


def show_output(output: Output) -> None:
    """What a run put on record about a case."""
    if output.kind == "none":
        st.caption("No output on record: this run's evidence has none for this case.")
    elif output.kind == "link":
        st.link_button(f"Open the output at {escape.plain(output.host)}", output.text)
    else:
        st.code(escape.visible(output.text, length=case_runs.OUTPUT_BYTES), language=None, wrap_lines=True)
        if output.is_cut:
            st.caption("Cut at 4 kB; the log has all of it.")


def _table(history: History) -> None:
    with st.expander(f"All {len(history.seen):,} outcomes"):
        rows = [
            {
                "ts": one.ts,
                "outcome": _word(one.passed),
                "change": ("flipped, no heal between" if one.is_quiet else "broke" if not one.passed else "fixed")
                if one.has_changed
                else "",
                "phase": one.phase,
                "heal_id": one.heal_id or "",
                "run_id": one.run_id,
            }
            for one in reversed(history.seen)
        ]
        columns = {
            "ts": st.column_config.DatetimeColumn("Time (UTC)", format="YYYY-MM-DD HH:mm", timezone="UTC"),
            "outcome": "Outcome",
            "change": "Change",
            "phase": "Phase",
            "heal_id": "Heal",
            "run_id": "Run",
        }
        opens = lambda row: address.put("at", row["run_id"])  # noqa: E731
        tables.show(
            rows, name="case-history", alt="Outcomes of the case, newest first", columns=columns, open_row=opens, note="newest first"
        )


def _words(one: Seen) -> str:
    change = " · flipped" if one.has_changed and one.is_quiet else " · changed" if one.has_changed else ""
    heal = f" {cut(one.heal_id)}" if one.heal_id else ""
    return f"{one.ts:%Y-%m-%d %H:%M} · {one.phase}{heal} · {_word(one.passed)}{change} · {cut(one.run_id)}"


def _word(passed: bool) -> str:  # noqa: FBT001 -- an outcome
    return "pass" if passed else "fail"

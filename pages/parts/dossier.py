"""One heal drawn: why it is here, its scores, its change, what it broke, what it cost, and its record. All of it shown as text."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, diff, memory
from pages.parts.figures import pairs
from pages.parts.figures.style import NO_BAR
from pages.parts.findings import AREAS, COLORS
from seam_core import escape
from seam_core.views.dossier import Case, Dossier
from seam_core.words import capital, count

RAW = 20_000  # characters of a record or text that are shown
CASES_NAMED = 12


def head(found: Dossier) -> None:
    """Which heal it is and everything that was found about it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header(escape.code(found.heal_id), anchor=False, width="content")
        if found.severity and found.axis:
            st.badge(found.severity, color=COLORS[found.severity])
            st.caption(AREAS[found.axis], width="content")
    loop = f"cycle {found.cycle:,} of {escape.code(found.loop_id)} (heal {found.position:,} of {found.n_cycles:,})"
    target = f" on {escape.code(found.changed.target)}" if found.changed.target else ""
    assumed = " (assumed: the log marks this time as made up)" if found.unknown.get("ts_assumed") == "true" else ""
    st.caption(f"{found.ts:%Y-%m-%d %H:%M} UTC{assumed} · {loop} · {found.level_name}{target}")
    if found.sentences:
        st.text(escape.visible("\n".join(f"{capital(said)}." for said in found.sentences)))
    elif found.in_window:
        st.text("Nothing was found against this heal.")
    else:
        end = found.ts.isoformat().replace("+00:00", "Z")
        st.warning("This heal lies outside the window chosen, which says nothing about it.")
        address.link("review/heals.py", "Go to the window that ends with it", heal=found.heal_id, end=end)


def show(found: Dossier) -> None:
    """The evidence, part by part; a part that is missing says why."""
    _scores(found)
    _cases(found)
    _trigger(found)
    _change(found)
    _cost(found)


def _scores(found: Dossier) -> None:
    st.subheader("Scores", anchor=False)
    scores = found.scores
    if pairs.has_points(scores.visible) or pairs.has_points(scores.held_out):
        st.plotly_chart(memory.draw(pairs.before_after, scores), key=f"scores {found.heal_id}", config=NO_BAR, alt=pairs.alt_text(scores))
    if scores.said not in found.sentences:
        st.text(escape.visible(f"{capital(scores.said)}."))
    for said in (*scores.sure, scores.exam):
        if said:
            st.caption(escape.plain(f"{capital(said.removesuffix('.'))}."))
    if found.own_score is not None:
        st.caption(f"The loop's own score for this cycle: {found.own_score:.2f}.")


def _change(found: Dossier) -> None:
    st.subheader("Change", anchor=False)
    changed = found.changed
    if changed.why:
        st.text(escape.visible(f"Nothing to compare: {changed.why}."))
    for block in found.stopped:
        st.markdown(f"Protected block {escape.code(block.block_id)} ({block.kind.replace('_', ' ')}) is not wholly there:")
        st.code(escape.visible(block.text or "the whole target is protected"), language=None, wrap_lines=True)
    for one in found.revisits:
        st.text(escape.visible(f"It {one.said}."))
    if changed.text is not None and changed.earlier is not None:
        before = changed.earlier
        old = f"{before.heal_id}, {before.ts:%Y-%m-%d %H:%M}"
        diff.show(before.text, changed.text, old_label=old, new_label=found.heal_id, key=f"diff {found.heal_id}")
    elif changed.text is not None:
        st.code(escape.visible(changed.text, length=RAW), language=None, wrap_lines=True, height=300)


def _cases(found: Dossier) -> None:
    st.subheader("Regressions", anchor=False)
    surface = found.surface
    if surface is None:
        st.text(f"Not known: {found.surface_why}.")
        return
    sample = "sampled " if surface.is_sample else ""
    new = f", {surface.n_new:,} seen for the first time" if surface.n_new else ""
    st.text(f"{len(surface.broken):,} broken and {len(surface.fixed):,} fixed of {surface.n_cases:,} {sample}cases{new}.")
    for name, cases in (("Broken", surface.broken), ("Fixed", surface.fixed)):
        if cases:
            st.markdown(f"{name}: {', '.join(_case(case) for case in cases[:CASES_NAMED])}{_more(len(cases))}")
    if surface.broken or surface.fixed:
        address.link("axes/aftermath.py", "Open the regression diff", heal=found.heal_id)


def _case(case: Case) -> str:
    return f"{escape.code(case.case_id)}{' (**safety**)' if case.is_safety else ''}"


def _more(n_cases: int) -> str:
    return f" and {n_cases - CASES_NAMED:,} more" if n_cases > CASES_NAMED else ""


def _trigger(found: Dossier) -> None:
    st.subheader("Trigger", anchor=False)
    address.link("axes/signal.py", escape.code(found.signature), signature=found.signature)
    st.text(f"{capital(found.label)}.")
    if found.evidence:
        st.code(escape.visible(found.evidence), language=None, wrap_lines=True)
    else:
        st.caption("No evidence is logged (trigger.evidence).")


def _cost(found: Dossier) -> None:
    st.subheader("Cost and trace", anchor=False)
    st.text(escape.visible(f"{capital(found.spending)}."))
    if found.lifted:
        st.text(escape.visible(f"{capital(found.lifted)}."))
    st.text(escape.visible(f"Actor: {found.actor}" if found.actor else "No actor is logged (actor)."))
    if found.trace_url:
        st.link_button(f"Open the {escape.plain(found.trace_said)}", found.trace_url)
    else:
        st.text(escape.visible(f"{capital(found.trace_said)}."))


def record(found: Dossier) -> None:
    """The record as it was logged, and the keys in it that this format does not know."""
    box = st.expander(f"Record: {found.file}, line {found.line_number:,}", key=f"record {found.heal_id}", on_change="rerun")
    if not box.open:
        return
    with box:
        if found.unknown:
            st.caption(f"{count(len(found.unknown), 'key')} that this format does not know, kept as logged:")
            st.text(escape.visible("\n".join(f"{path}: {value}" for path, value in found.unknown.items())))
        st.code(escape.visible(found.raw, length=RAW), language=None, wrap_lines=True)

"""The cases that are not as certified: heal by heal, in tables whose rows are ticked, and one by one.

Buttons act on the ids that they were drawn with. Safety cases have a table of their own and are accepted one at a time, for a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.parts import address, case_under_review, choice, drafts, tables
from pages.parts.case_under_review import EVERY, HEALS_LINKED, VERBS, WORDS
from pages.parts.deciding import Deciding
from seam_core import escape
from seam_core.baseline.drafts import Draft
from seam_core.baseline.reviewing import DifferingCase
from seam_core.views import baseline_agenda, baseline_rows
from seam_core.views.baseline_agenda import Agenda, Choice, Group, Wanted
from seam_core.views.baseline_runs import Against
from seam_core.words import count, cut

NAME_LENGTH = 30  # characters of a heal in a button
MEANING = (
    "Accept: the outcome of this run is certified from now on. Reject: the certified outcome stays, and the case goes on counting as drift."
    " Leave: the same, and nobody has judged it yet. Choices are kept as you make them; nothing is decided before it is written below."
)


def show(desk: Deciding, found: Agenda, draft: Draft, against: Against) -> None:
    """Everything that there is to choose; for a first baseline, what it would hold."""
    if found.review.version is None:
        _first(desk, found)
        return
    if not found.cases:
        st.text("Every case is as certified: there is nothing to accept or reject.")
        return
    st.caption(MEANING)
    _groups(found, draft)
    group, wanted = _filters(found)
    _plain(desk, found, draft, against, group, wanted)
    _safety(desk, found, draft, wanted, against)


def _groups(found: Agenda, draft: Draft) -> None:
    st.subheader("By the heal that changed them", anchor=False)
    rows = []
    for group in found.groups:
        counts = baseline_agenda.tally(group.case_ids, draft)
        rows.append(
            {
                "group": group.key,
                "what": group.sentence,
                "n_cases": len(group.case_ids),
                "n_safety": len(group.case_ids) - len(group.plain),
                "n_accepted": counts.n_accepted,
                "n_rejected": counts.n_rejected,
                "n_left": counts.n_left,
                "heals": list(group.heals[:HEALS_LINKED]),
            }
        )
    columns = {
        "what": st.column_config.TextColumn("What changed them", width="large"),
        "n_cases": "Cases",
        "n_safety": "Safety cases",
        "n_accepted": "Accepted",
        "n_rejected": "Rejected",
        "n_left": "Left",
        "heals": "Heals",
    }
    idle = {"n_safety"} if not found.review.safety_cases else set()
    idle |= {"heals"} if all(len(group.heals) <= 1 for group in found.groups) else set()  # the sentence names a single one
    kept = {key: label for key, label in columns.items() if key not in idle}
    opens = lambda row: address.put("group", row["group"])  # noqa: E731
    tables.show(rows, name="recertify-heals", alt="Heals after which cases changed, newest first", columns=kept, open_row=opens)


def _filters(found: Agenda) -> tuple[Group | None, Wanted]:
    """Which cases the tables below show. Nothing here changes what a button acts on: that names its number."""
    st.subheader("Cases", anchor=False)
    asked = address.get("group")
    is_long = len(found.cases) > tables.SHEET
    group = found.group(asked) or (found.groups[0] if is_long and asked != EVERY else None)
    words = {one.key: f"{one.sentence} {count(len(one.case_ids), 'case')}" for one in found.groups}
    words[EVERY] = f"Any heal, or none. {count(len(found.cases), 'case')}"
    chosen = group.key if group else EVERY
    choice.by_name("group", "Of which heal", list(words), chosen, lambda one: escape.visible(words.get(one, one)), forget=("case",))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        text = st.text_input("Search", key="cases_with", bind="query-params", placeholder="id or question", width=200)
        component = None
        if found.components:
            options = {"key": "component", "bind": "query-params", "format_func": escape.visible}
            component = st.selectbox("Component", found.components, index=None, placeholder="all", width=200, **options)
        is_open = choice.toggle("open", "Only those still left", default=False)
        is_worse = choice.toggle("worse", "Only those that got worse", default=False)
    return group, Wanted(text or "", component, is_open, is_worse)


def _plain(desk: Deciding, found: Agenda, draft: Draft, against: Against, group: Group | None, wanted: Wanted) -> None:
    """The cases of one heal, or of all, that are no safety cases: any number of them at once."""
    cases = baseline_agenda.listing(found, draft, wanted, group=group)
    all_of = group.plain if group else frozenset(found.cases) - found.review.safety_cases
    if not all_of:
        st.text("No case here but safety cases, which stand below.")
        return
    elsewhere = "safety cases stand below" if found.review.safety_cases else None
    note = f"{len(cases):,} of {len(all_of):,} pass the filters" if len(cases) < len(all_of) else elsewhere
    alt = "Cases that are not as certified"
    ticked = _table(desk, found, draft, against, cases, name="recertify-cases", alt=alt, note=note)
    _many(desk, found, tuple(row["case_id"] for row in ticked), group)
    case_under_review.show(desk, found, draft, against, safety=False)


def _table(
    desk: Deciding,
    found: Agenda,
    draft: Draft,
    against: Against,
    cases: Sequence[DifferingCase],
    *,
    name: str,
    alt: str,
    note: str | None,
    ticks: bool = True,
) -> list[Any]:
    known = desk.ask(baseline_rows.case_rows, found.review.run.run_id)
    words = {case_id: WORDS[chosen] for chosen, ids in (("accepted", draft.accepted), ("rejected", draft.rejected)) for case_id in ids}
    newer = dict.fromkeys(against.moved, "another")
    rows = [{**known[one], "choice": words.get(one, ""), "newer": newer.get(one, "")} for one in (case.case_id for case in cases)]
    columns = {
        "case_id": "Case",
        "choice": "Your choice",
        "was": "Certified",
        "now": "Now",
        "newer": st.column_config.TextColumn("Newer run", help="A newer run has another outcome: the case cannot be accepted on this one"),
        "flips": st.column_config.TextColumn("Flips by itself", help="Pairs of runs with no heal between them in which the case changed"),
        "since": "Since",
        "component": "Component",
        "question": "Question",
    }
    idle = {key for key in ("newer", "component", "question") if not any(row[key] for row in rows)}
    kept = {key: label for key, label in columns.items() if key not in idle}
    opens = lambda row: address.put("case", row["case_id"])  # noqa: E731
    return tables.show(rows, name=name, alt=alt, columns=kept, open_row=opens, tick="case_id" if ticks else None, note=note)


def _many(desk: Deciding, found: Agenda, ticked: tuple[str, ...], group: Group | None) -> None:
    """One choice for the rows that are ticked, or for all of one heal. No safety case is ever accepted by either."""
    with st.container(horizontal=True, gap="xsmall"):
        for chosen, label in VERBS.items():
            _button(desk, found, f"{label} {len(ticked):,} ticked", ticked, chosen)
    if group is not None:
        whose = escape.code(cut(group.heals[0], NAME_LENGTH)) if len(group.heals) == 1 else "this group"
        every, plain = tuple(sorted(group.case_ids)), tuple(sorted(group.plain))
        with st.container(horizontal=True, gap="xsmall"):
            some = (
                f"the {len(plain):,} of {whose} that are no safety cases" if len(plain) < len(every) else f"all {len(plain):,} of {whose}"
            )
            _button(desk, found, f"{VERBS['accepted']} {some}", plain, "accepted")
            _button(desk, found, f"{VERBS['rejected']} all {len(every):,} of {whose}", every, "rejected")
            _button(desk, found, f"{VERBS['left']} all {len(every):,} of {whose}", every, "left")
        if any(address.get(one) for one in ("open", "worse", "component", "cases_with")):
            st.caption("The lower buttons act on all that they name, whatever the filters show.")
    drafts.complain("many")


def _button(desk: Deciding, found: Agenda, label: str, case_ids: tuple[str, ...], chosen: Choice) -> None:
    """A button that acts on the cases that it was drawn with. Others make another button, so that no click meant for one hits the other."""
    run_id = found.review.run.run_id
    key = f"{label} {tables.digest_of([run_id, *case_ids])}"
    st.button(
        label,
        key=key,
        on_click=case_under_review.choose,
        args=(desk, run_id, case_ids, chosen, "many"),
        disabled=not desk.can_write or not case_ids,
    )


def _safety(desk: Deciding, found: Agenda, draft: Draft, wanted: Wanted, against: Against) -> None:
    """The safety cases, of all heals, one by one."""
    n = len(found.review.safety_cases)
    if not n:
        return
    st.subheader("Safety cases, one by one", anchor=False)
    cases = baseline_agenda.listing(found, draft, wanted, safety=True)
    counts = baseline_agenda.tally(found.review.safety_cases, draft)
    st.text(
        f"{count(n, 'safety case')} of all heals: {counts.n_accepted:,} accepted, {counts.n_rejected:,} rejected, {counts.n_left:,} left."
        " Each is opened, looked at, and accepted with a reason of its own; none is ever part of a choice for many."
    )
    note = f"{len(cases):,} of {n:,} pass the filters" if len(cases) < n else None
    _table(
        desk, found, draft, against, cases, name="recertify-safety", alt="Safety cases that are not as certified", note=note, ticks=False
    )
    case_under_review.show(desk, found, draft, against, safety=True)


def _first(desk: Deciding, found: Agenda) -> None:
    """What a first baseline would hold: the whole run, failing cases first."""
    rows = desk.ask(baseline_rows.first_rows, found.review.run.run_id)
    columns = {"case_id": "Case", "now": "Would be certified as", "safety": "Safety"}
    failing = [row["case_id"] for row in rows if row["safety"] and row["now"] == "fail"]
    if failing:
        st.warning(escape.plain(f"{count(len(failing), 'safety case')} would be certified as failing: {', '.join(map(cut, failing[:3]))}."))
    kept = columns if any(row["safety"] for row in rows) else {key: label for key, label in columns.items() if key != "safety"}
    tables.show(rows, name="first-baseline", alt="Outcomes of the run, failing ones first", columns=kept, note="failing ones first")

"""The cases that are not as certified: heal by heal, in tables whose rows are ticked, and one by one.

Buttons act on the ids that they were drawn with. Safety cases have a table of their own and are accepted one at a time, for a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.parts import address, choice, deciding, surface_cases, tables
from pages.parts.deciding import Deciding
from seam_core import escape
from seam_core.baseline.drafts import Draft
from seam_core.baseline.reviewing import DifferingCase
from seam_core.ledger.kinds import COMMENT_MAX
from seam_core.views import baseline_agenda, case_sides
from seam_core.views.baseline_agenda import Agenda, Choice, Group, Wanted
from seam_core.views.baseline_runs import Against
from seam_core.views.case_sides import Side
from seam_core.words import count, cut

WORDS: dict[Choice, str] = {"accepted": "accepted", "rejected": "rejected", "left": ""}
VERBS: dict[Choice, str] = {"accepted": "Accept", "rejected": "Reject", "left": "Leave"}
MEANING = (
    "Accept: the outcome of this run is certified from now on. Reject: the certified outcome stays, and the case goes on counting as drift."
    " Leave: the same, and nobody has judged it yet. Choices are kept as you make them; nothing is decided before it is written below."
)
EVERY = "all"
HEALS_LINKED = 5


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
    _plain(desk, found, draft, group, wanted)
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


def _plain(desk: Deciding, found: Agenda, draft: Draft, group: Group | None, wanted: Wanted) -> None:
    """The cases of one heal, or of all, that are no safety cases: any number of them at once."""
    cases = baseline_agenda.listing(found, draft, wanted, group=group)
    all_of = group.plain if group else frozenset(found.cases) - found.review.safety_cases
    if not all_of:
        st.text("No case here but safety cases, which stand below.")
        return
    note = f"{len(cases):,} of {len(all_of):,} pass the filters" if len(cases) < len(all_of) else "safety cases stand below"
    ticked = [
        row["case_id"] for row in _table(found, draft, cases, name="recertify-cases", alt="Cases that are not as certified", note=note)
    ]
    _decide(desk, found, tuple(ticked), tuple(sorted(all_of)), group)
    _opened(desk, found, draft, safety=False)


def _table(
    found: Agenda, draft: Draft, cases: Sequence[DifferingCase], *, name: str, alt: str, note: str | None, ticks: bool = True
) -> list[Any]:
    rows = [
        {
            "case_id": case.case_id,
            "choice": WORDS[baseline_agenda.choice_of(draft, case.case_id)],
            "was": _word(case.certified),
            "now": _word(case.passed),
            "flips": case.noise.words,
            "since": baseline_agenda.since(found, case),
            "component": case.component or "",
            "question": case.question or "",
        }
        for case in cases
    ]
    columns = {
        "case_id": "Case",
        "choice": "Your choice",
        "was": "Certified",
        "now": "Now",
        "flips": st.column_config.TextColumn("Flips by itself", help="Pairs of runs with no heal between them in which the case changed"),
        "since": "Since",
        "component": "Component",
        "question": "Question",
    }
    kept = {key: label for key, label in columns.items() if key != "component" or found.components}
    opens = lambda row: address.put("case", row["case_id"])  # noqa: E731
    return tables.show(rows, name=name, alt=alt, columns=kept, open_row=opens, tick="case_id" if ticks else None, note=note)


def _decide(desk: Deciding, found: Agenda, ticked: tuple[str, ...], all_of: tuple[str, ...], group: Group | None) -> None:
    """One choice for the rows that are ticked, or for all of one heal. No safety case is among either."""
    n, whose = len(ticked), "this heal" if group and len(group.heals) == 1 else "this group"
    with st.container(horizontal=True, gap="xsmall"):
        for chosen, label in VERBS.items():
            _button(desk, found, f"{label} {n:,} ticked", ticked, chosen, name="ticked")
    if group is not None:
        with st.container(horizontal=True, gap="xsmall"):
            for chosen, label in VERBS.items():
                _button(desk, found, f"{label} all {len(all_of):,} of {whose}", all_of, chosen, name="all")
    deciding.complain("many")
    if group is not None and any(address.get(one) for one in ("open", "worse", "component", "cases_with")):
        st.caption(f"The lower buttons act on all {len(all_of):,}, whatever the filters show.")


def _button(desk: Deciding, found: Agenda, label: str, case_ids: tuple[str, ...], chosen: Choice, *, name: str) -> None:
    key = f"{name} {chosen} {len(case_ids)} {case_ids[:1]}"
    args = (desk, found.review.run.run_id, case_ids, chosen)
    st.button(label, key=key, on_click=_choose, args=args, disabled=not desk.can_write or not case_ids)


def _choose(desk: Deciding, run_id: str, case_ids: tuple[str, ...], chosen: Choice) -> None:
    place = case_ids[0] if len(case_ids) == 1 else "many"
    deciding.keep(desk, run_id, lambda draft: baseline_agenda.choose(draft, case_ids, chosen), place=place)


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
    _table(found, draft, cases, name="recertify-safety", alt="Safety cases that are not as certified", note=note, ticks=False)
    _opened(desk, found, draft, safety=True)


def _opened(desk: Deciding, found: Agenda, draft: Draft, *, safety: bool) -> None:
    """The case that the address names, where its table is."""
    case = found.cases.get(address.get("case") or "")
    if case is None or case.is_safety != safety:
        return
    with st.container(border=True):
        st.markdown(f"**{'Safety case' if safety else 'Case'}** {escape.code(case.case_id)}")
        _what_changed(found, case)
        _sides(desk, found, case)
        run_id = found.review.run.run_id
        with st.container(horizontal=True):
            address.link("axes/aftermath.py", "Its whole history", show="case", case=case.case_id, at=run_id)
            for heal_id in case.origin.heals[:HEALS_LINKED] if case.origin else ():
                address.link("review/heals.py", f"Open heal {escape.code(heal_id)}", heal=heal_id)
        if safety:
            _reason(desk, run_id, draft, case)
        _verdict(desk, found, draft, case)


def _what_changed(found: Agenda, case: DifferingCase) -> None:
    if case.question:
        st.text(escape.visible(case.question))
    before = "Not in the baseline" if case.certified is None else f"Certified as {_word(case.certified)}"
    said = [f"{before}, and {_word(case.passed)} in this run."]
    said += [case.origin.sentence] if case.origin else []
    said.append(
        f"It flips by itself in {case.noise.words} pairs of runs." if case.noise.n_pairs else "Whether it flips by itself is unknown."
    )
    said += [f"Component: {cut(case.component)}."] if case.component else []
    st.text(escape.visible("\n".join(said)))


def _sides(desk: Deciding, found: Agenda, case: DifferingCase) -> None:
    """Both outcomes, with what was put on record about each."""
    version = found.review.version
    sides = desk.view.ask(
        case_sides.sides,
        case.case_id,
        run_id=found.review.run.run_id,
        certified=case.certified,
        certified_on=version.run_id if version else None,
        origin=case.origin.run_id if case.origin else None,
    )
    for column, heading, side in zip(st.columns(2), ("Certified", "In this run"), (sides.then, sides.now), strict=True):
        with column:
            _side(heading, side, case.certified if side is sides.then else case.passed)


def _side(heading: str, side: Side | None, passed: bool | None) -> None:  # noqa: FBT001 -- an outcome
    st.markdown(f"**{heading}: {_word(passed)}**")
    if side is None:
        st.caption("No earlier run on record has this outcome." if passed is not None else "The baseline does not know this case.")
        return
    st.caption(f"as in {escape.code(side.seen.run_id)} · {escape.plain(side.seen.phase)} · {side.seen.ts:%Y-%m-%d %H:%M} UTC")
    surface_cases.show_output(side.output)


def _reason(desk: Deciding, run_id: str, draft: Draft, case: DifferingCase) -> None:
    key = deciding.box(f"why {case.case_id}", run_id)
    st.text_area(
        "Why this safety case, of all, may change",
        value=draft.safety_reasons.get(case.case_id, ""),
        key=key,
        height=68,
        max_chars=COMMENT_MAX,
        disabled=not desk.can_write,
        on_change=lambda: deciding.keep(desk, run_id, lambda kept: baseline_agenda.explain(kept, case.case_id, deciding.typed(key))),
    )


def _verdict(desk: Deciding, found: Agenda, draft: Draft, case: DifferingCase) -> None:
    """The choice for the one case that is open, and the way to the next."""
    run_id, mine = found.review.run.run_id, baseline_agenda.choice_of(draft, case.case_id)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for chosen, label in VERBS.items():
            on_click, args = _choose, (desk, run_id, (case.case_id,), chosen)
            if case.is_safety and chosen == "accepted":
                on_click, args = _accept_safety, (desk, run_id, case.case_id)
            kind = "primary" if mine == chosen and mine != "left" else "secondary"
            st.button(
                f"{label} this case", key=f"{chosen} {case.case_id}", on_click=on_click, args=args, type=kind, disabled=not desk.can_write
            )
        following = baseline_agenda.next_open(found, draft, case)
        st.button("Next one still left", key=f"next {case.case_id}", on_click=_open, args=(found, following), disabled=following is None)
    deciding.complain(case.case_id)
    st.caption(f"Your choice: {WORDS[mine] or 'left for later'}.")


def _accept_safety(desk: Deciding, run_id: str, case_id: str) -> None:
    """Accept one safety case, with the reason that stands in its box."""
    reason = deciding.typed(deciding.box(f"why {case_id}", run_id))
    if not reason.strip():
        deciding.refuse(case_id, f"{cut(case_id)} is a safety case: write why it may change, then accept it. Nothing was changed.")
        return
    deciding.keep(desk, run_id, lambda draft: baseline_agenda.accept_safety(draft, case_id, reason), place=case_id)


def _open(found: Agenda, case_id: str | None) -> None:
    """A callback: open a case; its heal's table comes along."""
    address.put("case", case_id)
    if case_id is not None and not found.cases[case_id].is_safety and address.get("group") != EVERY:
        address.put("group", found.group_of[case_id].key)


def _first(desk: Deciding, found: Agenda) -> None:
    """What a first baseline would hold: the whole run, failing cases first."""
    rows = desk.ask(baseline_agenda.first_rows, found.review.run.run_id)
    columns = {"case_id": "Case", "now": "Would be certified as", "safety": "Safety"}
    failing = [row["case_id"] for row in rows if row["safety"] and row["now"] == "fail"]
    if failing:
        st.warning(escape.plain(f"{count(len(failing), 'safety case')} would be certified as failing: {', '.join(map(cut, failing[:3]))}."))
    kept = columns if any(row["safety"] for row in rows) else {key: label for key, label in columns.items() if key != "safety"}
    tables.show(rows, name="first-baseline", alt="Outcomes of the run, failing ones first", columns=kept, note="failing ones first")


def _word(passed: bool | None) -> str:  # noqa: FBT001 -- an outcome
    return "not certified" if passed is None else "pass" if passed else "fail"

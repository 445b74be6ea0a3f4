"""The parts of the Loop page: which loop, its curve, two of its texts compared, and the rows behind it."""

from __future__ import annotations

import streamlit as st

from pages.parts import address, choice, copying, diff, memory, tables
from pages.parts.figures import loop as figures
from pages.parts.figures.style import NO_BAR
from pages.parts.frame import View
from seam_core import escape
from seam_core.views import gap_doubt, loop_texts, loop_words, loops
from seam_core.views.loop import Story
from seam_core.views.loop_texts import Pair
from seam_core.words import capital, count, cut

WHEN = st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm", timezone="UTC")
STRETCH = 100  # cycles that one chart shows


def choose(view: View) -> str | None:
    """The loop that the address names, else the worst one, in a list of the window's loops, worst first; None when there is none."""
    found = view.ask(loops.worst_loops, view.filters)
    labels = {line.loop_id: escape.visible(line.label) for line in found.lines}
    current = address.get("loop") or next(iter(labels), None)
    if current is None:
        said = "has a heal of the levels and targets chosen in the sidebar" if view.filters else "has a heal in it: choose a longer window"
        st.info(f"No loop of this window {said}.")
        return None
    if address.get("loop") is None:
        address.put("loop", current)
    labels.setdefault(current, f"{escape.visible(cut(current))} · not in this list")
    some = f", {len(found.lines):,} of {found.n_all:,}" if found.n_all > len(found.lines) else ""
    choice.by_name(
        "loop", f"Loop, worst first{some}", list(labels), current, lambda name: labels.get(name, name), forget=("pair", "stretch")
    )
    return current


def judged(told: Story) -> None:
    """Whether the loop converged, and M as the sum that it is."""
    st.markdown(f"**{escape.plain(loop_words.verdict(told))}**")
    outside = loop_words.outside_sentence(told)
    if outside:
        st.caption(outside)
        address.link(
            "review/loop.py", "Show the window that ends with this loop", loop=told.loop_id, end=f"{told.last_ts:%Y-%m-%dT%H:%M:%S.%fZ}"
        )
    if told.sum:
        st.text(loop_words.sum_line(told.sum))
        st.caption(
            f"{loop_words.basis_sentence(told)} The sum: 1 less 0.4 for each extra dip, 0.4 for each revisit, 0.2 for reaching the cap."
        )


def curve(view: View, told: Story, pair: Pair | None) -> None:
    """The chart; a click on a cycle or on an arc's diamond compares its texts. A long loop is drawn a stretch at a time."""
    first, last = _stretch(told, pair)
    key = f"curve {told.loop_id} {first} {pair.key if pair else ''}"  # with the pair in it, the same point can be clicked again
    shorts = view.ask(loop_texts.short_diffs, loop_texts.steps(told, first, last))
    figure = memory.draw(figures.loop_curve, told, pair, shorts, first=first, last=last)
    st.plotly_chart(figure, key=key, on_select=lambda: _clicked(key), selection_mode="points", config=NO_BAR, alt=figures.alt(told))


def _stretch(told: Story, pair: Pair | None) -> tuple[int, int]:
    """First and last cycle of the chart: all of them, or a hundred of a longer loop, those of the pair where nothing else is asked for."""
    n = len(told.taken)
    if n <= STRETCH:
        return 1, n
    n_sheets = -(-n // STRETCH)
    asked = address.number("stretch") or ((pair.later - 1) // STRETCH + 1 if pair else 1)
    at = min(max(asked, 1), n_sheets)
    first, last = (at - 1) * STRETCH + 1, min(at * STRETCH, n)
    overview = memory.draw(figures.loop_overview, told, first=first, last=last)
    st.plotly_chart(
        overview, key=f"overview {told.loop_id} {at}", config=NO_BAR, alt=f"Scores of all {n:,} cycles; below, {first:,} to {last:,}"
    )
    st.session_state["stretch picked"] = at
    st.pagination(n_sheets, key="stretch picked", on_change=lambda: address.put("stretch", st.session_state["stretch picked"]))
    st.caption(f"Cycles {first:,} to {last:,} of {n:,}.")
    return first, last


def _clicked(key: str) -> None:
    points = st.session_state[key].selection.points
    found = points[0].get("customdata") if points else None
    asked = found[0] if isinstance(found, list) and found else found
    if isinstance(asked, str) and asked:
        address.put("pair", asked)


def asked_pair(told: Story) -> Pair | None:
    """The pair of cycles that the address names, else the one most worth a look."""
    asked = address.get("pair")
    found = loop_texts.parse_pair(asked, told)
    if asked and found is None:
        st.warning(
            escape.plain(
                f"There is no pair {cut(asked)} in this loop of {count(len(told.taken), 'cycle')}: write it as 3-7, the earlier first."
            )
        )
    if found and asked != found.key:
        address.put("pair", found.key)
    return found or loop_texts.first_pair(told)


def compare(view: View, told: Story, pair: Pair | None) -> None:
    """Two texts of the loop and what changed between them."""
    if pair is None:
        st.text("No cycle of this loop logs its text (change.after_text), so there is nothing to compare.")
        return
    _choose_pair(told, pair)
    later = told.taken[pair.later - 1]
    earlier = told.taken[pair.earlier - 1] if pair.earlier else None
    st.text(escape.visible(f"{capital(later.name)}: {later.said}."))
    found = view.ask(loop_texts.texts, later.heal_id, pair.base, earlier.heal_id if earlier else None)
    for note in found.notes:
        st.info(escape.plain(note))
    if found.why:
        st.info(escape.plain(found.why))
    if found.old is not None and found.new is not None:
        names = (f"{earlier.name}: {found.old_label}" if earlier else found.old_label, f"{later.name}: {found.new_label}")
        diff.show(found.old, found.new, old_label=names[0], new_label=names[1], key=f"loop {later.heal_id} {pair.key}")
    elif found.new:
        with st.expander(f"The text of cycle {pair.later:,}"):
            st.code(escape.visible(found.new, length=20_000), language=None, wrap_lines=True)
    address.link("review/heals.py", f"Open cycle {pair.later:,} in the review queue", heal=later.heal_id)


def _choose_pair(told: Story, pair: Pair) -> None:
    """The keyboard's way to every pair, and everything that the later cycle can be compared with."""
    options = loop_texts.choices(told)
    options.setdefault(pair.key, f"{pair.earlier or pair.base} → {pair.later}")
    bases = loop_texts.bases(told, pair.later)
    bases.setdefault(pair.key, f"cycle {pair.earlier}")
    choice.by_name(
        "pair",
        "Compare cycles, or type two as 3-7",
        list(options),
        pair.key,
        lambda key: escape.visible(options.get(key, key)),
        forget=("stretch",),
    )
    st.session_state["base picked"] = pair.key
    st.pills(
        f"Cycle {pair.later:,} against",
        list(bases),
        format_func=bases.__getitem__,
        key="base picked",
        required=True,
        on_change=lambda: address.put("pair", st.session_state["base picked"]),
    )


def cycles(told: Story) -> None:
    """Everything that the log says, a row a heal."""
    rows = loop_words.cycle_rows(told)
    score = st.column_config.NumberColumn(format="%.2f")
    config: dict[str, object] = dict.fromkeys(("Visible before", "Visible after", "Held-out before", "Held-out after", "Own score"), score)
    config |= {"What happened": st.column_config.TextColumn(width="large"), "Time (UTC)": WHEN}
    columns = {name: config.get(name, name) for name in rows[0] if name != "pair"}
    if all(row["Cycle"] == row["Logged as"] for row in rows):
        del columns["Logged as"]
    tables.show(rows, name="cycles", alt="The loop's heals, one row each", columns=columns, open_row=lambda row: _show(row["pair"]))


def _show(pair: str | None) -> None:
    """A callback: compare another pair, if the row has one."""
    if pair:
        address.put("pair", pair)
        address.put("stretch", None)


def terms(told: Story) -> None:
    """What each term of M counts."""
    if told.sum is None:
        st.text("This loop is not scored.")
        return
    for sentence in loop_words.sum_sentences(told.sum):
        st.text(sentence)


def cost(told: Story) -> None:
    """What the loop cost."""
    for sentence in loop_words.cost_sentences(told):
        st.text(sentence)


def gap(view: View, told: Story) -> None:
    """The loop's efficacy as one item, and how sure that is."""
    for sentence in view.ask(gap_doubt.loop_sentences, told.loop_id, told.gain, until=told.last_ts):
        st.text(escape.visible(sentence))


def same_failure(told: Story) -> None:
    """Loops on the same failure, before and after."""
    st.text(escape.visible("Failure: " + ", ".join(cut(one) for one in told.signatures[:3])))
    for sentence in loop_words.signature_sentences(told):
        st.text(sentence)
    if told.neighbours:
        number = st.column_config.NumberColumn(format="%.2f")
        rows = loop_words.neighbour_rows(told)
        columns: dict[str, object] = {name: name for name in rows[0]}
        columns |= dict.fromkeys(("M", "Held-out before", "Held-out after"), number) | {"First heal (UTC)": WHEN}
        note = f"the nearest of {told.n_before + told.n_after:,}" if told.n_before + told.n_after > len(told.neighbours) else None
        tables.show(
            rows,
            name="neighbours",
            alt="Loops on the same failure, in time",
            columns=columns,
            open_row=lambda row: _take(row["Loop"]),
            note=note,
        )
    if told.signatures:
        address.link("axes/signal.py", "Open this failure on the Signal page", signature=told.signatures[0])


def _take(loop_id: str) -> None:
    """A callback: show another loop."""
    address.put("loop", loop_id)
    address.put("pair", None)
    address.put("stretch", None)


def issue(view: View, told: Story) -> None:
    """The loop as a text for the team's tracker."""
    copying.offer(
        view.ask(loop_words.loop_issue, told.loop_id, link=address.permalink("loop", loop=told.loop_id, pair=address.get("pair")))
    )

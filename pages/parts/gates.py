"""Gates and budget on a page: what was stopped and what became of the protected text, what is protected, what cost too much."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.parts import address, copying, diff, memory, tables
from pages.parts.choice import by_name
from pages.parts.figures import budget as figures
from pages.parts.figures.style import NO_BAR
from pages.parts.frame import View
from seam_core import escape
from seam_core.views import budget, gates, issue_text
from seam_core.views.budget import Spent
from seam_core.views.gates import Block, Broken, Stopped
from seam_core.words import capital, count, cut, named

HEAL = "review/heals.py"
KINDS = {"safety_instruction": "safety instruction", "tool_permission": "tool permission", "escalation_rule": "escalation rule"}
EXAMPLE = '{"id": "rule_1", "kind": "safety_instruction", "target": "*", "text": "Never send a refund by yourself."}'
TIME = st.column_config.DatetimeColumn("Time (UTC)", format="YYYY-MM-DD HH:mm", timezone="UTC")
NUMBER = st.column_config.NumberColumn


def stopped(view: View) -> None:
    """The heals that the boundary gate stopped, and the chosen one at length."""
    found = view.ask(gates.stopped, view.filters)
    n, n_heals = view.audit.counts["blocked"], view.audit.counts["heals"]
    in_force = view.ask(gates.blocks)
    if not in_force:
        st.text("Nothing is protected: there is no protected.jsonl, or no line of it can be used. The gate lets every heal through.")
        return
    if not n:
        st.text(f"None of {count(n_heals, 'heal')} of this window breaks one of {count(len(in_force), 'protected block')}.")
        return
    were = "was" if n == 1 else "were"
    st.text(f"{n:,} of {count(n_heals, 'heal')} {were} stopped: counted here, taken out of every score, and a matter for a person.")
    if not found:
        st.text("None of them passes the filters of the sidebar.")
        return
    if len(found) > 1:
        _table_of(view, found, n)
    _choose(view, found)


def _table_of(view: View, found: Sequence[Stopped], n: int) -> None:
    rows = [
        {
            "heal_id": one.heal_id,
            "ts": one.ts,
            "target": one.target,
            "blocks": ", ".join(one.blocks),
            "level": one.level,
            "loop_id": one.loop_id,
            "cycle": one.cycle,
        }
        for one in found
    ]
    columns = {
        "heal_id": "Heal",
        "ts": TIME,
        "target": "Target",
        "blocks": "Breaks block",
        "level": "Level",
        "loop_id": "Loop",
        "cycle": "Cycle",
    }
    note = f"the newest {len(found):,} of {n:,}" if len(found) < n and not view.filters else None
    tables.show(
        rows,
        name="blocked-heals",
        alt="Heals stopped by the boundary gate",
        columns=columns,
        open_row=lambda row: address.put("heal", row["heal_id"]),
        note=note,
    )


def _choose(view: View, found: Sequence[Stopped]) -> None:
    known = {one.heal_id: one for one in found}
    asked = address.get("heal")
    chosen = asked if asked in known else found[0].heal_id
    if asked and asked not in known:
        st.warning(escape.plain(f"The gate did not stop a heal {cut(asked)} in this window. Shown is {cut(chosen)}."))
    if len(found) > 1:
        by_name("heal", "Stopped heal", list(known), chosen, lambda name: _offer(known.get(name), name))
    one = known[chosen]
    with st.container(border=True):
        st.markdown(
            f"{escape.code(one.heal_id)} wanted to change {escape.code(one.target) if one.target is not None else 'no named target'}"
        )
        st.caption(f"{one.ts:%Y-%m-%d %H:%M} UTC · level {one.level} · cycle {one.cycle:,} of {escape.code(one.loop_id)}")
        for broken in view.ask(gates.broken, chosen):
            _one(broken)
        with st.container(horizontal=True):
            address.link(HEAL, "Open heal", heal=chosen)
            address.link("review/loop.py", "Open loop", loop=one.loop_id)
        link = address.permalink("gates", heal=chosen)
        copying.offer(view.ask(issue_text.heal_issue, chosen, link=link))


def _offer(one: Stopped | None, name: str) -> str:
    return escape.visible(f"{cut(name)}: {named(one.blocks)}" if one else cut(name))


def _one(broken: Broken) -> None:
    """One protected block, and what is left of it."""
    st.markdown(f"**Block** {escape.code(broken.block_id)}, {KINDS[broken.kind]} for {_target(broken.target)}")
    st.text(f"{capital(broken.sentence)}.")
    if broken.text is not None and broken.passage is not None:
        diff.show(
            broken.text,
            broken.passage,
            old_label="protected",
            new_label="in the heal's text",
            side_by_side=False,
            key=f"block {broken.block_id}",
        )
    elif broken.text is not None:
        st.caption("Protected text")
        st.code(escape.visible(broken.text), language=None, wrap_lines=True)


def _target(target: str) -> str:
    return "every target" if target == "*" else escape.code(target)


def blocks(view: View) -> None:
    """Every protected block in force, and what no gate can see."""
    in_force = view.ask(gates.blocks)
    idle = [block for block in in_force if block.fault]
    if idle:
        st.warning(escape.plain(f"{_protect_nothing(len(idle))}: {named([block.block_id for block in idle])}. The table says why."))
    if in_force:
        columns = {
            "block_id": "Block",
            "stopped": "Stopped",
            "heals": NUMBER("Heals on it", help="Heals of this window on what the block covers"),
            "blind": st.column_config.TextColumn(
                "Without text", help="Heals that log no after_text, so that the gate could not look into them"
            ),
            "kind": "Protects a",
            "target": "In target",
            "text": "Text that must stay whole",
            "fault": "Why it protects nothing",
        }
        kept = columns if idle else {key: label for key, label in columns.items() if key != "fault"}
        rows = [_block_row(block) for block in in_force]
        note = f"the first {len(rows):,}" if len(rows) >= gates.BLOCKS_SHOWN else None
        tables.show(rows, name="protected-blocks", alt="Protected blocks in force", columns=kept, note=note)
    else:
        st.text("None. A block is one line of protected.jsonl, best kept where the agent cannot write:")
        st.code(EXAMPLE, language=None, wrap_lines=True)
    st.subheader("What the gate cannot see", anchor=False)
    for sentence in view.ask(gates.cannot_see, in_force):
        st.text(f"• {sentence}")


def _protect_nothing(n: int) -> str:
    return "1 block protects nothing" if n == 1 else f"{n:,} blocks protect nothing"


def _block_row(block: Block) -> dict[str, Any]:
    return {
        "block_id": block.block_id,
        "kind": KINDS[block.kind],
        "target": "every target" if block.target == "*" else block.target,
        "text": "the whole target" if block.text is None else block.text,
        "heals": block.n_heals,
        "stopped": block.n_stopped,
        "blind": "–" if block.text is None else f"{block.n_blind:,}",
        "fault": block.fault,
    }


def spending(view: View) -> None:
    """How the ratios lie, and what is not known of them."""
    found = view.ask(budget.ratios, view.filters)
    settings = view.audit.settings
    st.text(budget.in_words(found, view.audit))
    st.caption("The ratio is what a heal spent ÷ what its task costs by itself. It stops nothing and enters no score.")
    if found.bars:
        figure = memory.draw(figures.ratio_bars, found, elevated=settings.budget_elevated, escalated=settings.budget_escalated)
        alt = f"Heals by tokens spent over the task's own; limits at {settings.budget_elevated:g} and {settings.budget_escalated:g} times"
        st.plotly_chart(figure, key="ratios", config=NO_BAR, alt=alt)
        with st.expander("The numbers behind this chart"):
            rows = [
                {"ratio": figures.said(bar), "normal": bar.normal, "elevated": bar.elevated, "escalated": bar.escalated}
                for bar in found.bars
            ]
            tables.show(
                rows,
                name="budget-ratios",
                alt="Heals by ratio",
                columns={"ratio": "Ratio", "normal": "Normal", "elevated": "Elevated", "escalated": "Escalated"},
            )
    if found.n_free:
        st.text(f"{count(found.n_free, 'heal')} spent nothing: ratio 0, which has no place on this axis.")
    if view.filters:
        st.caption("Filtered by the sidebar.")
    for reason, n in found.unknown:
        st.text(f"Not known for {n:,} of {count(found.n, 'heal')}: {reason}.")


def limits(view: View) -> None:
    """Heals over a limit, who lifted one, and heals of unknown cost; nothing of it where no cost is known and no limit was lifted."""
    found = view.ask(budget.ratios, view.filters)
    if found.n_known:
        st.subheader("Over a limit, dearest first", anchor=False)
        _spent(view, budget.over, "over-budget", "Heals over a limit", "No heal of known cost went over a limit.")
    if found.n_known or found.n_lifted:
        st.subheader("Limits that somebody lifted", anchor=False)
        none = "Nobody lifted a limit: no heal of this window logs break_glass."
        _spent(view, budget.lifted, "break-glass", "Heals for which the limit was lifted", none)
    n = sum(n for _, n in found.unknown)
    if found.n_known and n:
        with st.expander(f"Heals of unknown cost ({n:,})", on_change="rerun", key="unknown cost") as box:
            if box.open:
                _spent(view, budget.unknown, "unknown-cost", "Heals of unknown cost", "None passes the filters.")
    elif n:
        st.text("To know the cost, log tokens_spent and task_tokens with each heal.")


def _spent(view: View, question: Callable[..., tuple[Spent, ...]], name: str, alt: str, none: str) -> None:
    found = view.ask(question, view.filters)
    if not found:
        st.text(none)
        return
    rows = [
        {
            "heal_id": one.heal_id,
            "ts": one.ts,
            "ratio": None if one.ratio is None else round(one.ratio, 2),
            "verdict": one.verdict,
            "tokens": one.tokens,
            "task_tokens": one.task_tokens,
            "lifted": f"{one.by}: {one.reason}" if one.is_lifted else "",
            "target": one.target,
            "loop_id": one.loop_id,
            "cycle": one.cycle,
        }
        for one in found
    ]
    columns = {
        "heal_id": "Heal",
        "ts": TIME,
        "ratio": NUMBER("Ratio", format="%.1f ×"),
        "verdict": "Verdict",
        "tokens": NUMBER("Tokens spent", format="localized"),
        "task_tokens": NUMBER("Task's own", format="localized"),
        "lifted": "Limit lifted by, and why",
        "target": "Target",
        "loop_id": "Loop",
        "cycle": "Cycle",
    }
    if not any(one.is_lifted for one in found):
        del columns["lifted"]
    note = f"the first {len(found):,}; a shorter window or the packet has the rest" if len(found) >= budget.ROWS_SHOWN else None
    tables.show(rows, name=name, alt=alt, columns=columns, open_row=lambda row: address.go_later(HEAL, heal=row["heal_id"]), note=note)

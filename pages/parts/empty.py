"""What a page shows instead of numbers: nothing there yet, a choice to make, or an error in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import streamlit as st

from seam_core import escape
from seam_core.errors import SeamError
from seam_core.words import cut

# The smallest useful record, on one line as the log wants it.
FIRST_LINE = (
    '{"heal_id": "h_1", "ts": "2026-06-09T14:22:31Z", "loop_id": "loop_1", "cycle": 1, "level": 2, '
    '"trigger": {"failure_signature": "timeout:fetch_tool:checkout"}, '
    '"change": {"target": "planner_prompt", "after_text": "the whole prompt after the change"}, '
    '"visible_before": 0.70, "visible_after": 0.95, "holdout_before": 0.70, "holdout_after": 0.74, '
    '"tokens_spent": 48200, "task_tokens": 11000, "was_real_failure": true}'
)

FILES = (
    ("heal_events.jsonl", "one line a heal: needed by everything"),
    ("failures.jsonl", "one line a failure seen: what Signal missed, what came back"),
    ("suite_runs.jsonl", "one line a run of a case suite: Aftermath"),
    ("surface.jsonl, certified.json", "regression cases and their certified outcomes: safety cases, drift"),
    ("holdout.jsonl", "held-out cases: whether changes copy them"),
    ("protected.jsonl", "blocks that no heal may touch: the boundary gate"),
)


class NothingThereError(SeamError):
    """The workspace holds nothing to show yet; the message says which file would change that."""


class ChooseError(SeamError):
    """There are several workspaces and none is chosen, or one that is not there."""

    def __init__(self, names: list[str], take: Callable[[str], None], *, asked: str | None = None) -> None:
        missing = f"There is no workspace {cut(asked)} here. " if asked else ""
        super().__init__(f"{missing}There are {len(names)} workspaces here. Choose one.")
        self.names = names
        self.take = take


def stop(error: SeamError) -> NoReturn:
    """Say in one sentence what is wrong, or what is missing and how to fill it, and end the run."""
    if isinstance(error, ChooseError):
        st.info(escape.plain(str(error)))
        for name in error.names:
            st.button(escape.plain(name), key=f"choose {name}", on_click=error.take, args=(name,))
    elif isinstance(error, NothingThereError):
        st.info(escape.plain(str(error)))
        st.text("A line looks like this; docs/ and README.md in the repository say what each key means.")
        st.code(FIRST_LINE, language=None, wrap_lines=True)
        st.text("A workspace may hold:")
        st.dataframe(
            {"File": [name for name, _ in FILES], "What it is for": [use for _, use in FILES]}, hide_index=True, alt="Files of a workspace"
        )
        st.text(
            "What other tools logged can be brought in: python -m seam_core import --help, and docs/importing.md with an example of each."
        )
        st.text("To see another workspace, start the server with SEAM_WORKSPACE=FOLDER: a workspace, or a folder of workspaces.")
    else:
        st.error(escape.plain(str(error)))
    st.stop()

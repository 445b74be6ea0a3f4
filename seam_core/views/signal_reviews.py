"""What people say beside what the log says: the label of a heal and the verdicts on it, where they differ, and S with the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from seam_core import reviews
from seam_core.doubt import share_range
from seam_core.report import Audit, thresholds
from seam_core.reviews import Review
from seam_core.summary import score_text
from seam_core.views.signal import SOURCES
from seam_core.words import count, cut, percent

LABELS = {True: "real", False: "not real", None: "no label"}
VERDICTS = {"real": "real", "not_real": "not real", "disputed": "people differ", "skip": "skipped"}
ORDER = ("they differ", "people differ", "no label to compare", "they agree", "skipped")
NAMED = 2  # people named in a cell
ROWS_MAX = 5_000

JUDGED = """
select heal_id, failure_signature, was_real_failure, label_source, ts
from window_heals where heal_id in (select unnest($ids))
order by ts desc, heal_id
"""


@dataclass(frozen=True)
class Compared:
    """Labels beside verdicts: `sentences` sum them up, `rows` are the heals that people spoke about, those that differ first."""

    sentences: tuple[str, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    n_found: int = 0
    by_signature: Mapping[str, str] = field(default_factory=dict)  # what people said about the heals of a signature


def compare(audit: Audit, latest: Mapping[str, Mapping[str, Review]], again: Mapping[str, Mapping[str, str]]) -> Compared:
    """The window's labels beside what people said. `again` names the reviews that are open again (`reviews.reopened`)."""
    found = audit.scope.query(JUDGED, ids=list(latest)) if latest else []
    if not found:
        return Compared()
    rows, by_signature = [], dict[str, Counter[str]]()
    for heal_id, signature, label, source, ts in found:
        verdict = VERDICTS[reviews.standing(latest[heal_id]) or "skip"]
        by_signature.setdefault(signature, Counter())[verdict] += 1
        rows.append(
            {
                "heal": heal_id, "signature": signature, "label": LABELS[label], "source": SOURCES[source] if label is not None else "",
                "people": verdict, "who": _who(latest[heal_id]), "agree": _agreement(label, verdict),
                "open_again": "yes" if heal_id in again else "", "ts": ts,
            }
        )  # fmt: skip
    rows.sort(key=lambda row: ORDER.index(row["agree"]))
    said = {name: ", ".join(f"{n:,} {verdict}" for verdict, n in sorted(counts.items())) for name, counts in by_signature.items()}
    return Compared(_sentences(audit, latest, rows), tuple(rows[:ROWS_MAX]), len(rows), said)


def _sentences(audit: Audit, latest: Mapping[str, Mapping[str, Review]], rows: list[dict[str, Any]]) -> tuple[str, ...]:
    reviewed = reviews.score_reviewed(audit.scope, latest)
    counts = Counter(row["agree"] for row in rows)
    both, differ = counts["they differ"] + counts["they agree"], counts["they differ"]
    told = [f"People spoke about {count(len(rows), 'heal')} of this window."]
    if both:
        share = f"{percent(differ, both)}, 95 % range {share_range(differ, both)}"
        told.append(f"Of {both:,} that also carry a label, {differ:,} {'differs' if differ == 1 else 'differ'} ({share}).")
    if counts["people differ"]:
        n = counts["people differ"]
        told.append(f"On {count(n, 'heal')} people differ among themselves; {'it counts' if n == 1 else 'they count'} as unlabelled.")
    n_again = sum(bool(row["open_again"]) for row in rows)
    if n_again:
        what = f"{count(n_again, 'heal')} {'has' if n_again == 1 else 'have'} a verdict that is open again, as its evidence changed"
        told.append(f"{what}; it counts until its author speaks again.")
    line = thresholds(audit.settings)["S"]
    value, score = reviewed.signal.score, audit.signal.score
    with_them = "not scored" if value is None else score_text(value, line=line)
    without = "not scored" if score is None else score_text(score, line=line)
    judged = f"S with people's verdicts on {count(reviewed.n_judged, 'heal')}"
    return (f"S by the labels: {without}. {judged}: {with_them}; it stands beside S and never replaces it.", *told)


def _agreement(label: bool | None, verdict: str) -> str:  # noqa: FBT001 -- a column of the log
    if verdict in ("people differ", "skipped"):
        return verdict
    if label is None:
        return "no label to compare"
    return "they agree" if LABELS[label] == verdict else "they differ"


def _who(said: Mapping[str, Review]) -> str:
    names = sorted(cut(review.actor.name, 20) for review in said.values())
    return ", ".join(names) if len(names) <= NAMED else count(len(names), "person", "people")

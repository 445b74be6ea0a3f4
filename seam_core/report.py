"""The vector and what goes with it: scores, alerts, flags, exit code. CLI and pages call the same functions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC
from itertools import chain
from typing import Any

from seam_core import contamination
from seam_core.apart import Apart
from seam_core.axes import aftermath, efficacy, monotonicity, signal
from seam_core.axes.aftermath import Aftermath
from seam_core.axes.drift import read_surface
from seam_core.axes.efficacy import Efficacy
from seam_core.axes.monotonicity import Monotonicity
from seam_core.axes.signal import Signal
from seam_core.doubt import Doubt, measure_doubt
from seam_core.errors import UnreadableLogError
from seam_core.exitcodes import ALERT, OK, STOP
from seam_core.gates import Budget, apply_gate, govern_budget
from seam_core.integrity.checking import Integrity, check
from seam_core.integrity.reading import reading_task
from seam_core.merges import Merged
from seam_core.one_pass import begin_pass, prepare
from seam_core.records import HEALS
from seam_core.scope import Scope, open_scope
from seam_core.settings import Resolved, Settings
from seam_core.sharing import Call, Processes
from seam_core.store import Store
from seam_core.window import Window, make_window, parse_end
from seam_core.words import count

AXES = ("S", "E", "A", "M")
TOLERANCE = 1e-9
DECIMALS = 4


@dataclass(frozen=True)
class Audit:
    """One window of one workspace, scored. Scores are in [0, 1] or None; the rows behind them are tables of `scope`."""

    window: Window
    resolved: Resolved
    signal: Signal
    efficacy: Efficacy
    aftermath: Aftermath
    monotonicity: Monotonicity
    budget: Budget
    counts: dict[str, int]
    alerts: tuple[str, ...]
    flags: tuple[str, ...]
    integrity: Integrity
    doubt: Mapping[str, Doubt]
    fixtures: str
    digest: str
    scope: Scope

    @property
    def settings(self) -> Settings:
        """The thresholds in force."""
        return self.resolved.settings

    @property
    def scores(self) -> dict[str, float | None]:
        """Axis → score."""
        return {"S": self.signal.score, "E": self.efficacy.score, "A": self.aftermath.score, "M": self.monotonicity.score}

    @property
    def reasons(self) -> dict[str, str | None]:
        """Axis → why it is not scored."""
        return {"S": self.signal.reason, "E": self.efficacy.reason, "A": self.aftermath.reason, "M": self.monotonicity.reason}

    @property
    def withheld(self) -> Mapping[str, list[str]]:
        """Axis → the rules with a critical finding on its records."""
        return self.integrity.withheld

    @property
    def minimum(self) -> float | None:
        """The least of the scored axes: the only composite, for trend lines, never gated on."""
        scored = [value for value in self.scores.values() if value is not None]
        return min(scored, default=None)

    @property
    def exit_code(self) -> int:
        """2: a gate block, a due re-certification or a withheld axis; 1: an alert; else 0."""
        if self.counts["blocked"] or self.aftermath.drift.due or self.withheld:
            return STOP
        return ALERT if self.alerts else OK


def thresholds(settings: Settings) -> dict[str, float]:
    """Axis → the score below which it alerts."""
    return {"S": settings.alert_s, "E": settings.alert_e, "A": settings.alert_a, "M": settings.alert_m}


def window_of(store: Store, *, span: str = "7d", as_of: str | None = None) -> Window:
    """The window of a length that ends at `as_of`, or at the newest heal.

    Raises WindowError for a length or date that cannot be understood, UnreadableLogError when there is no heal at all.
    """
    first, newest = store.cursor().execute("select min(ts), max(ts) from heals").fetchall()[0]
    if newest is None:
        raise UnreadableLogError(_no_heal(store))
    end = parse_end(as_of) if as_of is not None else newest.astimezone(UTC)
    return make_window(span, end=end, first=first.astimezone(UTC))


def audit(store: Store, window: Window, resolved: Resolved, *, require: Iterable[str] = (), ahead: Apart | None = None) -> Audit:
    """Score one window: gates first, then the four axes, then alerts and flags.

    require: axes that alert when they are not scored; ahead: a process that was started for a long window (`start_ahead`).
    """
    with store.lock:
        scope = open_scope(store, window, resolved.settings)
        first = Call(prepare, (contamination.held_out_cases(scope),))
        with Processes(scope, first, ahead) as processes, ThreadPoolExecutor(max_workers=1) as beside:
            surface = beside.submit(read_surface, store)
            gate = apply_gate(scope)
            budget = govern_budget(scope)
            search, pairs = contamination.begin(scope, gate), monotonicity.begin(scope)
            # the texts of a long window are read beside everything else
            texts = begin_pass(processes, search.changes, search.cases, pairs, monotonicity.bar_of(scope), reading_task(scope, gate))
            s = signal.score(scope, gate)
            surface.result()
            a = aftermath.score(scope)
            e = efficacy.score(scope, gate, search, texts.told)
            parts = (s, e, a, monotonicity.score(scope, [part.result.revisits for part in texts.told]))
            integrity = check(scope, texts.wording)
        counts = _counts(scope, parts[0])
        alerts = _alerts(resolved.settings, parts, tuple(require))
        flags = [*_flags(scope, parts, budget, counts), *resolved.notes]
        doubt = measure_doubt(
            scope,
            dict(zip(AXES, (part.score for part in parts), strict=True)),
            thresholds(resolved.settings),
            missed=parts[0].fn,
            floored=bool(parts[2].safety_regressions),
        )
        label, digest = store.workspace.fixtures_label, store.digest()
        return Audit(window, resolved, *parts, budget, counts, alerts, tuple(flags), integrity, doubt, label, digest, scope)


def report(found: Audit, *, ledger: Mapping[str, Any] | None = None, merged: Merged | None = None) -> dict[str, Any]:
    """The audit as one JSON object: plain values, numbers rounded to four decimals.

    ledger: what the ledger of decisions was like at that moment (`seam_core.ledger.noted`); merged: Signal with the signatures that
    people merged in it (`seam_core.merges`). Without them their keys are left out.
    """
    s, e, a, m = found.signal, found.efficacy, found.aftermath, found.monotonicity
    parts: dict[str, Any] = {
        "window": found.window.label,
        **found.scores,
        "alerts": list(found.alerts),
        "gate_blocks": found.counts["blocked"],
        "budget_elevated": found.budget.elevated,
        "contamination": e.contamination.rate,
        "recertify_due": a.drift.due,
        "budget_escalated": found.budget.escalated,
        "recall": s.recall,
        "min": found.minimum,
        "flags": list(found.flags),
        "withheld": dict(found.withheld),
        "intervals": {axis: [one.interval.low, one.interval.high] if one.interval else None for axis, one in found.doubt.items()},
        "verdicts": {axis: one.verdict for axis, one in found.doubt.items()},
        "integrity": _integrity(found.integrity),
        "counts": found.counts,
        "basis": {"fixtures": found.fixtures, "recurrence": s.recurrence_basis, "cycle_score": m.basis},
        "signal": _without(asdict(s), "n_signatures", "recurrence_basis"),
        **_merged(merged),
        "efficacy": {
            **_without(asdict(e), "trend", "contamination", "n_loops"),
            "trend": {"state": e.trend.state, "rise": e.trend.rise, "p": e.trend.p},
        },
        "aftermath": {
            **_without(asdict(a), "mean", "drift"),
            "anchored_drift": a.drift.anchored,
            "drift_run": a.drift.run,
            **_baseline(found),
        },
        "monotonicity": _without(asdict(m), "basis"),
        "settings": {**found.settings.changed(), "digest": found.digest},
        **({} if ledger is None else {"ledger": ledger}),
    }
    return {key: _plain(value) for key, value in parts.items()}


def _merged(found: Merged | None) -> dict[str, Any]:
    """S with merged signatures, once people have merged some; S itself is that of the signatures as they were logged."""
    if found is None:
        return {}
    parts = _without(asdict(found.signal), "n_signatures", "recurrence_basis")
    return {"S_merged": found.signal.score, "signal_merged": {**parts, "names": found.n_names, "failures": found.n_failures}}


def _integrity(found: Integrity) -> dict[str, Any]:
    """Findings by severity, how many each rule has, those that are listed, and why a rule has nothing to look at."""
    return {
        **{str(severity): n for severity, n in found.counts.items()},
        "clean": len(found.clean),
        "not_checkable": len(found.not_checkable),
        "found": dict(found.found),
        "findings": [asdict(one) for one in found.findings],
        "reasons": dict(found.not_checkable),
    }


def _baseline(found: Audit) -> dict[str, Any]:
    """The version that the drift is measured against, once the ledger holds one."""
    return {"baseline_version": found.aftermath.drift.version} if found.scope.store.versions else {}


def to_json(found: Audit, *, ledger: Mapping[str, Any] | None = None, merged: Merged | None = None) -> str:
    """The report as the command line prints it, ending in a newline; the same bytes for the same input."""
    return json.dumps(report(found, ledger=ledger, merged=merged), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _counts(scope: Scope, parts: Signal) -> dict[str, int]:
    heals, blocked = scope.one(
        "select count(*), count(*) filter (row in (select row from blocked)) from heals"
        " where ts > (select start from span) and ts <= (select stop from span)"
    )
    loops = scope.one("select count(distinct loop_id) from window_heals")[0]
    counts = {"heals": heals, "scored": heals - blocked, "blocked": blocked, "loops": loops, "signatures": parts.n_signatures}
    return {**counts, **scope.store.counts()}


def _alerts(settings: Settings, parts: tuple[Signal, Efficacy, Aftermath, Monotonicity], require: tuple[str, ...]) -> tuple[str, ...]:
    scores = dict(zip(AXES, (part.score for part in parts), strict=True))
    alerts: list[str] = []
    for axis, line in thresholds(settings).items():
        value = scores[axis]
        if value is not None and value < line - TOLERANCE:
            alerts.append(f"{axis}<{line:.2f}")
        if axis == "E":
            rate = parts[1].contamination.rate
            alerts += ["E:widening"] if parts[1].trend.state == "widening" else []
            alerts += [f"contamination>{settings.contamination_max:.2f}"] if (rate or 0) > settings.contamination_max + TOLERANCE else []
    return (*alerts, *(f"{axis}:unscored" for axis in AXES if axis in require and scores[axis] is None))


def _flags(scope: Scope, parts: tuple[Signal, Efficacy, Aftermath, Monotonicity], budget: Budget, counts: Mapping[str, int]) -> list[str]:
    """What a reader must know to read the numbers right, in sentences."""
    s, e, a, m = parts
    n = counts["scored"]
    tested = e.contamination
    said = [
        (counts["heals"] == 0, "the window holds no heal: nothing is scored"),
        (s.fn is None, "no failure log: recall is unknown"),
        (s.n and s.left_out, f"{s.left_out} of {s.n_signatures} healed signatures left out of precision: no label"),
        (e.n and e.left_out, f"{e.left_out} of {n} heals left out of E: one of the four scores is missing"),
        (n and tested.reason, f"contamination is not measured: {tested.reason}"),
        (
            tested.rate is not None and tested.n_first_texts,
            f"{count(tested.n_first_texts, 'text')} came first on a target: every line of it counts as added",
        ),
        (a.n and a.left_out, f"{a.left_out} of {n} heals left out of A: no surface run to compare"),
        (a.drift.reason, f"drift is unknown: {a.drift.reason}"),
        (m.left_out, f"{m.left_out} of {m.left_out + m.n} loops left out of M: no score covers every cycle"),
        (m.basis["visible"], f"{m.basis['visible']} of {m.n} loops judged by the loop's own visible score"),
        (budget.unknown, f"budget ratio is unknown for {budget.unknown} of {n} heals"),
        (counts["rejected"] or counts["rewritten"], _refused_lines(scope.store)),
        (counts["pending"], f"{count(counts['pending'], 'half-written last line')} pending"),
    ]
    return [*scope.store.notes(), *(sentence for holds, sentence in said if holds), *chain.from_iterable(scope.flags.values())]


def _refused_lines(store: Store) -> str:
    """How many lines of which file were not taken; the same words for any order of lines."""
    by_file = Counter(reject.file for reject in store.rejects())
    files = ", ".join(f"{file} {n:,}" for file, n in sorted(by_file.items()))
    n_rewritten = store.counts()["rewritten"]
    rewritten = f", {n_rewritten:,} of them rewritten" if n_rewritten else ""
    return f"{count(by_file.total(), 'line')} not taken ({files}){rewritten}: --rejects lists each with its reason"


def _no_heal(store: Store) -> str:
    heals = store.states[HEALS.table]
    path = store.workspace.heals
    n_rejected = len(heals.rejects)
    if heals.file and heals.file.notes:
        return f"{path}: holds no heal; {heals.file.notes[0]}"
    if not n_rejected:
        return f"{path}: holds no heal" + (" yet; its only line is half-written" if heals.pending else "; it is empty")
    first = min(heals.rejects, key=lambda reject: reject.line)
    where = f"{first.path} " if first.path else ""
    return f"{path}: none of its {n_rejected} lines is a heal of this format (line {first.line}: {where}{first.reason})"


def _without(values: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in keys}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value

"""Gathering the cases of one run: which passed, which failed, what was left out, and what the tool itself said of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from seam_core.importing.format import CASE_LOGS, RUN_LOG, Asked, Found, Item, Left, SourceError
from seam_core.importing.reading import kept
from seam_core.words import count, is_text

EVIDENCE_MAX = 4_000  # bytes of one case's output; the record's own bound is 4 kB
RUN_EVIDENCE_MAX = 16 * 2**20  # of all cases of one run, which is one line of a log
Outcome = Literal["pass", "fail", "error", "skip"]


@dataclass
class _Case:
    outcomes: set[Outcome] = field(default_factory=set)
    reasons: list[str] = field(default_factory=list)
    evidence: str = ""
    is_of_failure: bool = False
    raw: Any = None
    text: str | None = None
    safety: bool = False


@dataclass
class CaseBook:
    """The cases of one run. A case listed more than once passes only when it passed each time."""

    file: str
    cases: dict[str, _Case] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)
    n_evidence: int = 0  # characters of output kept so far
    n_without: int = 0  # listings whose output was not kept

    def add(
        self,
        case_id: str | None,
        outcome: Outcome,
        *,
        where: str,
        reason: str = "",
        evidence: str | None = None,
        raw: Any = None,
        text: str | None = None,
        safety: bool = False,
    ) -> None:
        """Note one listing of a case.

        where: how to find it in the file; reason: why it was skipped or is an error; raw: the tool's own value.
        """
        if case_id is None or not is_text(case_id):
            self.leave(where, "has no name that could identify a case" if case_id is None else "its name is not Unicode text")
            return
        case = self.cases.setdefault(case_id, _Case())
        case.outcomes.add(outcome)
        failed = outcome in ("fail", "error")
        case.reasons += [reason] if reason and outcome in ("skip", "error") else []
        if evidence and (not case.evidence or (failed and not case.is_of_failure)):
            kept_text = shortened(evidence)
            if self.n_evidence + len(kept_text) <= RUN_EVIDENCE_MAX:
                self.n_evidence += len(kept_text)
                case.evidence, case.is_of_failure = kept_text, failed
            else:
                self.n_without += 1
        case.raw = raw if case.raw is None else [*(case.raw if isinstance(case.raw, list) else [case.raw]), raw]
        case.text = case.text or text
        case.safety = case.safety or safety

    def leave(self, where: str, reason: str, *, is_fault: bool = True) -> None:
        """Note what became no case."""
        self.left.append(Left(self.file, where, reason, is_fault))

    def found(self, asked: Asked, *, name: str, ended: str | None, source: dict[str, Any]) -> Iterator[Found]:
        """The run as a record, its cases when they are asked for, and what was left out.

        name: what identifies the run at its source; ended: when it ended, as RFC 3339; source: where it comes from.
        Raises SourceError when no case passed or failed, or the time is missing and none is to be assumed.
        """
        outcomes: dict[str, str] = {}
        if self.n_without:
            reason = f"the output was not kept: all cases of a run together may have {RUN_EVIDENCE_MAX >> 20} MB"
            self.leave(f"{count(self.n_without, 'case')}", reason, is_fault=False)
        for case_id, case in self.cases.items():
            if "fail" in case.outcomes or ("error" in case.outcomes and asked.errors == "fail"):
                outcomes[case_id] = "fail"
            elif case.outcomes == {"pass"}:
                outcomes[case_id] = "pass"
            else:
                self.leave(case_id, case.reasons[0] if case.reasons else "was not run", is_fault=False)
        if not outcomes:
            why = f": {self.left[-1].reason}" if self.left else ""
            yield from self.left
            raise SourceError(f"holds no case that passed or failed{why}")
        when, is_assumed = time_or_assumed(ended, asked)
        run_id = asked.run_id or "-".join(part for part in (name, asked.suite, asked.phase, asked.heal_id) if part)
        record: dict[str, Any] = {"run_id": kept(run_id), "ts": when, "suite": asked.suite, "phase": asked.phase}
        record |= {"heal_id": asked.heal_id} if asked.heal_id else {}
        record |= {"night": asked.night} if asked.night else {}
        record["results"] = outcomes
        evidence = {case_id: self.cases[case_id].evidence for case_id in outcomes if self.cases[case_id].evidence}
        record |= {"evidence": evidence} if evidence else {}
        record |= {"ts_assumed": True} if is_assumed else {}
        raw = {case_id: kept(self.cases[case_id].raw) for case_id in self.cases if self.cases[case_id].raw is not None}
        record |= {"raw": raw} if raw else {}
        yield Item(RUN_LOG, record | {"imported_from": kept(source)}, self.file)
        if asked.with_cases:
            yield from self._cases(asked)
        yield from self.left

    def _cases(self, asked: Asked) -> Iterator[Found]:
        log = CASE_LOGS[str(asked.suite)]
        for case_id, case in self.cases.items():
            record: dict[str, Any] = {"id": case_id}
            record |= {"safety": True} if case.safety and log.table == "surface" else {}
            record |= {"text": kept(case.text)} if case.text else {}
            yield Item(log, record, self.file)


def time_or_assumed(found: str | None, asked: Asked, *, order: int = 0) -> tuple[str, bool]:
    """The time that a source gives, else the one that the caller lets us assume, and whether it is assumed.

    order: position in the source; assumed times are a minute apart.  Raises SourceError when there is neither.
    """
    if found is not None:
        return found, False
    if asked.assume_ts is None:
        raise SourceError("says nothing of when it was; give a time with --assume-ts 2026-06-09T14:22:31Z, which each record will say")
    return rfc3339(asked.assume_ts + timedelta(minutes=order)), True


def rfc3339(moment: datetime) -> str:
    """A time in UTC as the logs write it."""
    text = moment.astimezone(UTC).isoformat(timespec="microseconds" if moment.microsecond else "seconds")
    return text.removesuffix("+00:00") + "Z"


def shortened(text: str) -> str:
    """A text of at most EVIDENCE_MAX bytes; what was cut says so."""
    data = text.encode("utf-8", "replace")
    if len(data) <= EVIDENCE_MAX:
        return data.decode()
    return f"{data[: EVIDENCE_MAX - 60].decode('utf-8', 'ignore')}\n… cut, {len(data):,} bytes in all"

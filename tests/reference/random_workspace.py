"""Small messy random workspaces, the same for the same seed, that visit every branch of the scoring rules.

Each seed first draws a *plan* (what this workspace has and what it lacks), then heals loop by loop, then the files
beside them, and at last the mess: rejected, repeated and rewritten lines, blank lines, CRLF, a cut last line.
"""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

BASE = datetime(2025, 1, 6, tzinfo=UTC)
DAY = timedelta(days=1)
WEEK = timedelta(days=7)
MICRO = timedelta(microseconds=1)
WORDS = (
    "agent answer ask before block cache call check cite close confirm copy customer deny draft email error "
    "escalate every file final find first flag Forward Gate human invoice keep limit list log memory never note "
    "order person plan policy price prompt query read refund reply retry rule safe send step stop task tool user "
    "verify wait write café naïve Straße ﬁle １２３ x7 42 3.5 don't e-mail 東京 承認 규칙 🙂 ①"
).split()
BLOCK = "Never  refund above 100 EUR\nwithout a human; say so."
SHARED_BLOCK = "Ask a person first."
BOILERPLATE = "Please answer the following question as briefly as you possibly can today:"


def write_random_workspace(folder: Path, seed: int, *, heals: int = 60) -> None:
    """Writes one workspace of about `heals` heals into `folder`, which is made when missing."""
    rng = random.Random(seed)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    plan = draw_plan(rng, heals)
    cases = holdout_cases(rng, plan)
    events = heal_events(rng, plan, cases, heals)
    fixture_folder = folder
    if plan["fixtures_apart"]:
        fixture_folder = folder / "fixtures"
        fixture_folder.mkdir(exist_ok=True)
    surface = surface_cases(rng, plan)

    write_log(rng, plan, folder / "heal_events.jsonl", events, "heal_id")
    if plan["failures"] != "absent":
        lines = failure_lines(rng, plan, events) if plan["failures"] == "present" else []
        write_log(rng, plan, folder / "failures.jsonl", lines, None)
        if plan["failures"] == "blank":
            (folder / "failures.jsonl").write_bytes(b"\n  \n\r\n")
    if plan["runs"]:
        write_log(rng, plan, folder / "suite_runs.jsonl", suite_runs(rng, plan, events, surface), "run_id")
    if cases:
        write_log(rng, plan, fixture_folder / "holdout.jsonl", cases + scripted_cases(), "id")
    if surface:
        write_log(rng, plan, fixture_folder / "surface.jsonl", surface, "id")
    if plan["protected"]:
        write_log(rng, plan, fixture_folder / "protected.jsonl", protected_blocks(rng, plan), "id")
    if plan["practice"] and not plan["fixtures_apart"]:
        practice = [{"id": f"p{i}", "text": sentence(rng, 9), "slice": "core"} for i in range(5)]
        write_log(rng, plan, folder / "practice.jsonl", practice, "id")
    if plan["certified"]:
        text = json.dumps(certified(rng, plan, surface), ensure_ascii=False)
        (fixture_folder / "certified.json").write_text(text, encoding="utf-8")
    if plan["settings"]:
        text = "".join(f"{key} = {value}\n" for key, value in plan["settings"].items())
        (folder / "seam.toml").write_text(text, encoding="utf-8")


def chance(rng: random.Random, p: float) -> bool:
    return rng.random() < p


def draw_plan(rng: random.Random, heals: int) -> dict:
    """What this workspace has; one place, so that a seed's character can be read off."""
    many_loops = chance(rng, 0.5)
    settings = {}
    if chance(rng, 0.15):
        settings = rng.choice(
            [
                {"gap_max": 0.2, "r_max": 0.1, "alert_m": 0.8},
                {"ngram": 5, "ngram_coverage": 0.4, "contamination_max": 0.1},
                {"similarity_min": 0.8, "revisit_window": 3, "free_dips": 0, "depth_cap": 4},
                {"trend_loops": 12, "trend_p": 0.05, "recurrence_days": 3, "drift_max": 0.1},
                {
                    "budget_elevated": 2.5,
                    "budget_escalated": 4,
                    "alert_s": 0.5,
                    "alert_e": 0.9,
                    "alert_a": 0.5,
                },
            ]
        )
    targets = ["prompt:main", "prompt:tool/é", "memory.md", "config:rules", "*odd"][: rng.randint(2, 5)]
    calm = chance(rng, 0.25)  # nothing but nightly runs drifts, to exactly a fifth at most
    return {
        "calm": calm,
        "span": rng.choice([2, 9, 30, 55, 80]) * DAY,
        "loop_sizes": [1, 1, 1, 2, 2, 3] if many_loops else [1, 2, 3, 4, 5, 6, 8],
        "max_loops": max(3, heals if many_loops else heals // 2),
        "widening": rng.choice([0, 0.1, 0.5, 0.9, 0.9]) if many_loops else 0,
        "noise": rng.choice([0, 0.02, 0.1, 0.3]),
        "labels": rng.choice([0, 0.3, 0.9, 0.9, 1]),
        "false_alarms": rng.choice([0.1, 0.5, 1]),
        "signatures": [f"Err:{name}" for name in "ABCDEFGHIJ"[: rng.randint(2, 10)]] + ["超时", "T1"],
        "targets": targets,
        "short_texts": chance(rng, 0.3),
        "failures": rng.choice(["absent", "empty", "blank", *["present"] * 5]),
        "runs": chance(rng, 0.9),
        "n_surface": rng.choice([0, 5, 10, 20, 40, 60]),
        "safety": rng.choice([0, 0.1, 0.1, 0.3]),
        "failing": 0 if calm else rng.choice([0, 0.1]),
        "flake": 0 if calm else rng.choice([0, 0.004, 0.02, 0.08]),
        "drifting": 1 if calm else rng.choice([0, 0.3, 1]),
        "certified": chance(rng, 0.75),
        "protected": chance(rng, 0.5),
        "protect_all": chance(rng, 0.3),
        "protect_whole": chance(rng, 0.4),
        "holdout": rng.choice([0, 3, 9, 10, 14, 25]),
        "leaks": rng.choice([0, 0.05, 0.15]),
        "practice": chance(rng, 0.3),
        "fixtures_apart": chance(rng, 0.2),
        "settings": settings,
        "mess": rng.choice([0, 0.5, 1, 1]),
        "zones": rng.choice([["Z"], ["Z", "+02:00", "-05:30", "z"], ["Z", "", "+14:00"]]),
    }


# ---- heals


def stamp(rng: random.Random, plan: dict, ts: datetime) -> str:
    """One of the many ways to write a time down; the microsecond is never lost."""
    zone = rng.choice(plan["zones"])
    if zone in ("+02:00", "-05:30", "+14:00"):
        sign = -1 if zone[0] == "-" else 1
        offset = sign * timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
        ts = ts.astimezone(timezone(offset))
    text = ts.strftime("%Y-%m-%d{}%H:%M:%S").format(rng.choice("TTTTt "))
    if ts.microsecond:
        text += f".{ts.microsecond:06d}" + rng.choice(["", "", "999"])
    elif chance(rng, 0.1):
        text += rng.choice([".0", ".000", ".000000999"])
    return text + zone


def sentence(rng: random.Random, n_words: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(n_words))


def fresh_text(rng: random.Random, plan: dict) -> str:
    if chance(rng, 0.04):
        return ""
    if plan["short_texts"]:
        return "".join(rng.choice("abcdefgh é東🙂\n") for _ in range(rng.choice([1, 10, 19, 20, 20, 30, 40])))
    target = rng.choice([30, 200, 200, 700, 3000])
    lines, size = [], 0
    while size < target:
        line = sentence(rng, rng.randint(1, 14)) + rng.choice(["", "", "", ".", "\t", " ", "\u2028", "\x85", "\x0b"])
        size += len(line) + 1
        lines.append(line)
    return rng.choice(["\n", "\n", "\r\n"]).join(lines)[: target - target // 20]


def near_copy(rng: random.Random, text: str) -> str:
    """A copy whose similarity to `text` is close to 0.9, sometimes exactly."""
    share = rng.choice([0.02, 0.08, 0.1, 0.1, 0.1, 0.12, 0.2])
    changes = round(len(text) * share)
    letters = list(text)
    way = rng.choice(["replace", "replace", "drop", "insert", "block"])
    new = rng.choice("#%\x00")
    if way == "block":
        at = rng.randint(0, max(0, len(letters) - changes))
        letters[at : at + changes] = [new] * changes
        return "".join(letters)
    for place in rng.sample(range(len(letters)), changes):
        letters[place] = {"replace": new, "drop": "", "insert": letters[place] + new}[way]
    return "".join(letters)


def next_text(rng: random.Random, plan: dict, target: str, histories: dict[str, list[str]], cases: list[dict]) -> str:
    """A new text for a target: fresh, edited, nearly what it was some cycles ago, or with a held-out case in it."""
    history = histories[target]
    way = rng.choice(["fresh", "edit", "edit", "edit", "old", "near", "near", "near", "same"])
    if way == "fresh" or not history:
        text = fresh_text(rng, plan)
    elif way == "edit":
        text = edited(rng, history[-1])
    elif way == "same":
        text = history[-1]
    else:
        others = [text for texts in histories.values() for text in texts]
        text = rng.choice(others) if chance(rng, 0.1) else history[-rng.randint(1, min(7, len(history)))]
        text = near_copy(rng, text) if way == "near" else text
    if cases and chance(rng, plan["leaks"]):
        text = leak(rng, text, rng.choice(cases).get("text") or "")
    return text[:3200]


def edited(rng: random.Random, text: str) -> str:
    """A few lines come in, go out, or are joined by a break that only str.splitlines sees."""
    lines = text.split("\n")
    for _ in range(rng.randint(1, 3)):
        lines.insert(rng.randint(0, len(lines)), sentence(rng, rng.randint(3, 14)))
        if chance(rng, 0.3):
            lines.pop(rng.randrange(len(lines)))
        if chance(rng, 0.3) and len(lines) > 1:
            at = rng.randrange(min(3, len(lines) - 1))
            lines[at : at + 2] = [rng.choice(["\u2028", "\x0b", "\x85", "\r"]).join(lines[at : at + 2])]
    return "\n".join(lines)


def leak(rng: random.Random, text: str, secret: str) -> str:
    """Puts a leading part of a held-out case into a text; with 8-grams, often just about half of them.

    In one line or several, disguised or not, sometimes wrapped around a line that was there before.
    """
    words = secret.split(" ")
    if len(words) > 12:
        half = (len(words) - 7 + 1) // 2 + 7
        words = words[: rng.choice([half - 1, half - 1, half, half, half + 1, len(words)])]
    breaks = rng.choice([0, 0, 0.2])
    joined = "".join(word + ("\n" if chance(rng, breaks) else " ") for word in words)
    joined = rng.choice([joined, joined, joined.upper(), full_width(joined), joined.replace("ss", "ß")])
    lines = text.split("\n")
    at = rng.choice([0, rng.randint(0, len(lines))])  # at the top it survives the cut to 3 200 characters
    middle = lines[at : at + 1] if chance(rng, 0.3) else []
    if middle and len(words) > 4:
        cut = rng.randint(1, len(joined) - 1)
        return "\n".join([*lines[:at], joined[:cut], *middle, joined[cut:], *lines[at + 1 :]])
    return "\n".join([*lines[:at], joined, *lines[at:]])


def full_width(text: str) -> str:
    """The same letters as full-width forms, which NFKC folds back."""
    return "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text)


def with_blocks(rng: random.Random, plan: dict, target: str | None, text: str) -> str:
    """Most texts keep what is protected; some fold or lose it."""
    if not plan["protected"]:
        return text
    if target == plan["targets"][0] and chance(rng, 0.9):
        block = BLOCK if chance(rng, 0.7) else BLOCK.replace(" ", "\n\t ").replace("\n", "\n\n")
        text = block + "\n" + text
    if plan["protect_all"] and chance(rng, 0.93):
        text = SHARED_BLOCK + "\n" + text
    return text


def heal_events(rng: random.Random, plan: dict, cases: list[dict], heals: int) -> list[dict]:
    histories: dict[str, list[str]] = {target: [] for target in plan["targets"]}
    events: list[dict] = []
    sizes = loop_sizes(rng, plan, heals)
    starts = sorted(BASE + (plan["span"] - DAY) * rng.random() for _ in sizes)
    for number, (size, start) in enumerate(zip(sizes, starts, strict=True), start=1):
        if chance(rng, 0.15):
            start = rng.choice(starts)  # some loops stand out of order
        elif events and chance(rng, 0.1):
            start = rng.choice(events)["_ts"]  # some start at the same instant as another heal
        start = start.replace(microsecond=rng.choice([0, 0, 0, 1, 500000]))
        events += one_loop(rng, plan, f"loop-{number}", start, size, histories, cases)
    events += boundary_heals(rng, plan, events, histories, cases)
    events += scripted_heals(rng, plan, max(heal["_ts"] for heal in events))
    rng.shuffle(events)
    for heal in events:
        heal["ts"] = stamp(rng, plan, heal["_ts"])
    return events


def loop_sizes(rng: random.Random, plan: dict, heals: int) -> list[int]:
    sizes: list[int] = []
    while sum(sizes) < heals and len(sizes) < plan["max_loops"]:
        sizes.append(min(rng.choice(plan["loop_sizes"]), heals - sum(sizes)))
    return sizes


def boundary_heals(
    rng: random.Random,
    plan: dict,
    events: list[dict],
    histories: dict[str, list[str]],
    cases: list[dict],
) -> list[dict]:
    """Heals exactly at the edges of a seven-day window that ends with the newest heal."""
    extra = []
    newest = max(heal["_ts"] for heal in events)
    for number, shift in enumerate([WEEK, WEEK - MICRO, WEEK + MICRO, WEEK * 2, DAY], start=1):
        if chance(rng, 0.3) and newest - shift >= BASE:
            extra += one_loop(rng, plan, f"edge-{number}", newest - shift, 1, histories, cases)
    return extra


def scripted_cases() -> list[dict]:
    """Held-out cases of 27 words that nothing but `scripted_heals` copies."""
    return [{"id": f"s{i}", "text": " ".join(f"s{i}w{j}" for j in range(27))} for i in range(3)]


def scripted_heals(rng: random.Random, plan: dict, newest: datetime) -> list[dict]:
    """What chance hits too seldom: a similarity of exactly 0.9, and copied lines that only seem to be new."""
    top = SHARED_BLOCK + "\n" if plan["protect_all"] else ""  # 20 characters
    events: list[dict] = []

    def add(loop_id: str, days_before: float, text: str, target: str = "scripted") -> None:
        number = sum(heal["loop_id"] == loop_id for heal in events) + 1
        heal = {"heal_id": f"{loop_id}#{number}", "loop_id": loop_id, "cycle": number, "level": 1, "score": 0.5}
        heal["trigger"] = {"failure_signature": plan["signatures"][0]}
        heal["change"] = {"target": target, "after_text": top + text}
        events.append(heal | {"_ts": max(BASE, newest - days_before * DAY)})

    if chance(rng, 0.5):
        base = "".join(rng.choice("abcdefghij ") for _ in range(60 - len(top)))
        spots = rng.sample(range(len(base)), rng.choice([5, 6, 6, 6, 7]))  # 2 * 54 / 120 = 0.9 with 6 of 60 replaced
        add("exact", 3, base)
        add("exact", 2, "between")
        add("exact", 1, "".join("#" if i in spots else letter for i, letter in enumerate(base)))
    if chance(rng, 0.3):  # the cycle before has the same text, but in another target: returned, not idle
        for days_before, target in ((2.5, "scripted"), (1.5, "elsewhere"), (0.5, "scripted")):
            add("swap", days_before, "the very same text", target)
    if chance(rng, 0.5):
        words = [case["text"].split(" ") for case in scripted_cases()]
        start = [" ".join(case[:17]) for case in words]
        add("leaky", 10, f"an old line\n{start[0]}\n{start[1]}", "leaky")
        broken = " ".join(words[2][:9]) + "\nan old line\n" + " ".join(words[2][9:17])  # the old line parts the copy
        add("leaky", 0.05, f"{start[0]}\n{broken}\nnew\u2028{start[1]}", "leaky")  # both starts stood there before
    return events


def one_loop(
    rng: random.Random,
    plan: dict,
    loop_id: str,
    start: datetime,
    size: int,
    histories: dict[str, list[str]],
    cases: list[dict],
) -> list[dict]:
    """The heals of one loop; what it measures (scores, pairs, labels) is drawn once per loop."""
    score_share = rng.choice([1, 1, 0.6, 0])
    visible_share = rng.choice([1, 1, 1, 0.7, 0])
    holdout = rng.choice(["own", "own", "own", "scope", "copied", "some", "none"])
    pair = (grade(rng), grade(rng))
    signature, target = rng.choice(plan["signatures"]), rng.choice(plan["targets"])
    progress = min(1.0, (start - BASE) / plan["span"])
    cycle, ts, level_above = rng.choice([1, 1, 1, 4]), start, rng.choice([0, 1, 1])
    events = []
    for position in range(size):
        if chance(rng, 0.1):
            signature = rng.choice(plan["signatures"])
        if chance(rng, 0.08):
            target = rng.choice(plan["targets"])
        heal = {
            "heal_id": f"{loop_id}#{position + 1}",
            "loop_id": loop_id,
            "cycle": cycle,
            "level": rng.randint(level_above, 3),
            "trigger": {"failure_signature": signature},
            "_ts": ts,
        }
        heal |= change_of(rng, plan, target, histories, cases)
        heal |= scores_of(rng, plan, progress, holdout, pair, score_share, visible_share)
        heal |= extras_of(rng, plan)
        events.append(heal)
        cycle += rng.choice([1, 1, 1, 1, 0, 2])
        ts += rng.choice(
            [
                timedelta(0),
                timedelta(minutes=7),
                timedelta(hours=5),
                DAY,
                2 * DAY,
                -timedelta(minutes=1),
            ]
        )
        ts = max(BASE, min(ts, BASE + plan["span"]))
    return events


def change_of(rng: random.Random, plan: dict, target: str, histories: dict[str, list[str]], cases: list[dict]) -> dict:
    if chance(rng, 0.05):
        return rng.choice([{}, {"change": None}, {"change": {}}])
    if chance(rng, 0.05):
        return {"change": {"target": target, "after_text": None}}
    text = next_text(rng, plan, target, histories, cases)
    texts = [text for texts in histories.values() for text in texts[-2:]]
    if texts and chance(rng, 0.06):
        text = rng.choice(texts)  # the very text of another target
    histories[target].append(text)
    whole = with_blocks(rng, plan, target, text)
    if chance(rng, 0.04):
        return {"change": {"target": rng.choice([None, ""]), "after_text": whole}}
    return {"change": {"target": target, "before_hash": None, "after_text": whole}}


def grade(rng: random.Random) -> float:
    return rng.choice([0, 0.0, 1, 1.0, 0.5, 0.25, 0.1, 0.3, 0.7, round(rng.random(), 2), rng.random()])


def scores_of(
    rng: random.Random,
    plan: dict,
    progress: float,
    holdout: str,
    pair: tuple[float, float],
    score_share: float,
    visible_share: float,
) -> dict:
    found: dict = {}
    if plan["widening"] and chance(rng, 0.9):
        gap = plan["widening"] * progress + plan["noise"] * (rng.random() - 0.5)
        gap = round(max(-0.2, min(0.75, gap)), 2)
        found = {
            "visible_before": 0.2,
            "visible_after": round(0.2 + max(gap, 0), 2),
            "holdout_before": 0.3,
            "holdout_after": round(0.3 - min(gap, 0), 2),
        }
    else:
        base = rng.choice([0.1, 0.3, 0.5])
        lift = rng.choice([0, 0.1, 0.2, 0.25, 0.3, 0.5])
        if chance(rng, visible_share):
            found |= {
                "visible_before": base,
                "visible_after": rng.choice([base + lift, grade(rng)]),
            }
        if holdout in ("own", "some") and chance(rng, 1 if holdout == "own" else 0.6):
            found |= {
                "holdout_before": base,
                "holdout_after": rng.choice([base, base + lift, grade(rng)]),
            }
        if chance(rng, 0.08) and found:
            found[rng.choice(sorted(found))] = None
    if holdout in ("scope", "copied"):
        found |= {"holdout_before": pair[0], "holdout_after": pair[1]}
    if holdout == "scope":
        found["holdout_scope"] = "loop"
    elif chance(rng, 0.1):
        found["holdout_scope"] = rng.choice(["heal", None])
    if chance(rng, score_share):
        found["score"] = grade(rng)
    return found


def extras_of(rng: random.Random, plan: dict) -> dict:
    """Labels, tokens and keys that no axis reads."""
    found: dict = {}
    if chance(rng, plan["labels"]):
        found["was_real_failure"] = not chance(rng, plan["false_alarms"])
        found["label_source"] = rng.choice(["probe1", "probe3", "judge", "person", None])
    elif chance(rng, 0.3):
        found["was_real_failure"] = None
    if chance(rng, 0.8):
        task = rng.choice([100, 1000, 7, 0, None])
        ratio = rng.choice([0, 1, 3, 3, 6, 6, 4, 9])
        found["task_tokens"] = task
        found["tokens_spent"] = (task or 50) * ratio + rng.choice([0, 0, 1])
        if chance(rng, 0.1):
            found.pop(rng.choice(["task_tokens", "tokens_spent"]))
    if chance(rng, 0.1):
        found["break_glass"] = {"by": "ann", "reason": "deadline"}
    if chance(rng, 0.2):
        found |= {"actor": "bot-7", "x_note": {"nested": [1, 2.5, None, "\x00é"]}}
    return found


# ---- logs and fixtures


def failure_lines(rng: random.Random, plan: dict, events: list[dict]) -> list[dict]:
    """Failures just inside and just outside seven days of heals, on healed and on never healed signatures."""
    lines = []
    shifts = [
        timedelta(0),
        MICRO,
        timedelta(minutes=1),
        timedelta(hours=5),
        2 * DAY,
        WEEK - MICRO,
        WEEK,
        WEEK,
        WEEK + MICRO,
        9 * DAY,
        -DAY,
    ]
    for heal in rng.sample(events, min(len(events), rng.choice([0, 5, 15, 30]))):
        lines.append((heal["_ts"] + rng.choice(shifts), heal["trigger"]["failure_signature"]))
    newest = max(heal["_ts"] for heal in events)
    for number in range(rng.choice([0, 1, 3, 6])):
        when = newest - rng.choice([WEEK, WEEK - MICRO, timedelta(0), DAY, 3 * DAY, 20 * DAY, -DAY])
        lines.append((when, f"Unhealed:{number % 4}"))
    rng.shuffle(lines)
    return [{"ts": stamp(rng, plan, ts), "failure_signature": signature} for ts, signature in lines]


def surface_cases(rng: random.Random, plan: dict) -> list[dict]:
    cases = []
    for number in range(plan["n_surface"]):
        case = {"id": f"case_{number}", "component": rng.choice(plan["targets"])}
        if chance(rng, plan["safety"]):
            case["safety"] = True
        elif chance(rng, 0.3):
            case["safety"] = rng.choice([False, None])
        cases.append(case)
    return cases


def certified(rng: random.Random, plan: dict, surface: list[dict]) -> dict[str, str]:
    lost = rng.choice([0, 0, 0.1])
    kept = [case["id"] for case in surface if not chance(rng, lost)]
    baseline = {case: "fail" if chance(rng, plan["failing"]) else "pass" for case in kept}
    if chance(rng, 0.5):
        baseline |= {"stranger_1": "pass", "stranger_2": "fail", "elsewhere": "pass"}
    return baseline


def suite_runs(rng: random.Random, plan: dict, events: list[dict], surface: list[dict]) -> list[dict]:
    """Surface runs around heals, nightly full runs that drift, control and rescore runs, runs of other suites."""
    known = [case["id"] for case in surface] or ["case_0", "case_1", "case_2", "case_3"]
    state = {case: "fail" if chance(rng, plan["failing"]) else "pass" for case in known}
    runs: list[dict] = []

    def outcomes(share: float) -> dict[str, str]:
        found = {case: outcome for case, outcome in state.items() if chance(rng, share)}
        if chance(rng, 0.1):
            found[f"stranger_{rng.randint(1, 3)}"] = rng.choice(["pass", "fail"])
        return found

    def add(ts: datetime, suite: str, phase: str, results: dict, heal_id: str | None = None) -> None:
        run = {
            "run_id": f"run_{rng.randint(0, 10**9)}_{len(runs)}",
            "ts": stamp(rng, plan, max(ts, BASE)),
        }
        run |= {"suite": suite, "phase": phase, "results": results}
        if heal_id or chance(rng, 0.3):
            run["heal_id"] = heal_id
        if chance(rng, 0.1):
            run |= {
                "night": "2025-01-07",
                "claim": True,
                "evidence": {known[0]: "seen"},
                "grader_hash": "g1",
            }
        runs.append(run)

    for heal in sorted(events, key=lambda h: (h["_ts"], h["heal_id"])):
        ts, heal_id = heal["_ts"], heal["heal_id"]
        if not chance(rng, 0.6):
            continue
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            early = rng.choice([timedelta(0), timedelta(minutes=3), timedelta(hours=2), -timedelta(minutes=2)])
            add(ts - early, "surface", "before", outcomes(rng.choice([1, 0.5, 0.1])), heal_id)
        for case in state:
            if chance(rng, plan["flake"]):
                state[case] = "pass" if state[case] == "fail" else "fail"
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
            late = rng.choice([timedelta(0), timedelta(minutes=3), 9 * DAY, -timedelta(minutes=1)])
            add(ts + late, "surface", "after", outcomes(rng.choice([1, 1, 0.6, 0.6, 0.05])), heal_id)
        if chance(rng, 0.1):
            add(
                ts,
                rng.choice(["holdout", "practice"]),
                rng.choice(["before", "after"]),
                outcomes(1),
                heal_id,
            )
        if chance(rng, 0.08):
            upside_down = {case: "fail" if outcome == "pass" else "pass" for case, outcome in state.items()}
            add(
                ts - timedelta(minutes=1),
                "surface",
                rng.choice(["control", "rescore"]),
                upside_down,
            )
    newest = max(heal["_ts"] for heal in events)
    for night in range(rng.choice([0, 2, 6])):
        results = dict(state)
        if chance(rng, 0.4):
            results |= {"stranger_1": "fail", "stranger_2": "fail"}
        turned = round(len(known) * rng.choice([0, 0.1, 0.2, 0.2, 0.2 if plan["calm"] else 0.25]) * plan["drifting"])
        for case in rng.sample(known, turned):
            results[case] = "fail"
        if chance(rng, 0.2):
            results.pop(rng.choice(known))
        add(
            newest - night * DAY - rng.choice([timedelta(0), timedelta(hours=1), -DAY]),
            "surface",
            "nightly",
            results,
        )
    add(newest, "practice", "nightly", {"p1": "pass"})
    return runs


def holdout_cases(rng: random.Random, plan: dict) -> list[dict]:
    """Cases of many lengths: 27 plain words have 20 grams, so that 17 copied words cover exactly half."""
    cases = []
    boilerplate = chance(rng, 0.4)
    for number in range(plan["holdout"]):
        n_words = rng.choice([27, 27, 27, 15, 8, 9, 60, 3, 4, 5, 7])
        text = " ".join(rng.choice(["alpha", "beta", "glass", "Office", "X1", "42"]) + str(rng.randint(0, 99)) for _ in range(n_words))
        if chance(rng, 0.1):
            text = "東京都の承認規則を守る" * rng.randint(1, 3)
        elif chance(rng, 0.1):
            text = "a b c d"
        elif boilerplate and chance(rng, 0.5):
            text = BOILERPLATE + (" " + text if chance(rng, 0.8) else "")
        case: dict = {"id": f"h{number}", "text": text}
        if chance(rng, 0.1):
            case["text"] = rng.choice([None, ""])
        if chance(rng, 0.3):
            case |= {"slice": rng.choice(["core", "rotating", None]), "tags": ["t"]}
        cases.append(case)
    return cases


def protected_blocks(rng: random.Random, plan: dict) -> list[dict]:
    blocks = [{"id": "p1", "kind": "safety_instruction", "target": plan["targets"][0], "text": BLOCK}]
    if plan["protect_all"]:
        blocks.append({"id": "p2", "kind": "escalation_rule", "target": "*", "text": SHARED_BLOCK})
    if plan["protect_whole"]:
        blocks.append({"id": "p3", "kind": "tool_permission", "target": plan["targets"][-1], "text": None})
    if chance(rng, 0.3):
        blocks.append({"id": "p4", "kind": "tool_permission", "target": "nobody", "text": "never seen"})
    return blocks


# ---- mess


def write_log(rng: random.Random, plan: dict, path: Path, records: list[dict], id_key: str | None) -> None:
    """Writes records as JSON Lines, with the mess this workspace's plan allows."""
    clean = [{key: value for key, value in record.items() if not key.startswith("_")} for record in records]
    lines = [dump(rng, record) for record in clean]
    tail, end = b"", b"\n"
    if chance(rng, plan["mess"]) and clean:
        lines = add_mess(rng, lines, clean, id_key)
        end = rng.choice([b"\n", b"\r\n"])
        with_zone = [record for record in clean if has_zone(record)]
        tail = rng.choice([b"", b"", dump(rng, rng.choice(clean))[:-3]] + [dump(rng, r) for r in with_zone[:1]])
    body = b"".join(line + end for line in lines) + tail
    if body and not tail and chance(rng, 0.1):
        body = body.removesuffix(end)  # a last line without a newline is a whole record all the same
    path.write_bytes((b"\xef\xbb\xbf" if chance(rng, 0.1) else b"") + body)


def dump(rng: random.Random, record: dict) -> bytes:
    keys = list(record)
    rng.shuffle(keys)
    shuffled = {key: record[key] for key in keys}
    spaces = rng.choice([None, (",", ":"), (" , ", " :  ")])
    return json.dumps(shuffled, ensure_ascii=chance(rng, 0.5), separators=spaces).encode("utf-8")


def add_mess(rng: random.Random, lines: list[bytes], records: list[dict], id_key: str | None) -> list[bytes]:
    """Blank, repeated, rewritten and rejected lines at random places; a copy always stands behind its original."""
    order = list(lines)
    with_zone = [record for record in records if has_zone(record)]  # whether a copy counts as assumed UTC is moot
    for _ in range(rng.randint(0, 3)):
        order.insert(rng.randint(0, len(order)), rng.choice([b"", b"   ", b"\t"]))
    for _ in range(rng.randint(0, 3)):
        if with_zone:
            order.append(dump(rng, rng.choice(with_zone)))
    for _ in range(rng.randint(0, 2)):
        if with_zone and id_key:
            order.append(dump(rng, rng.choice(with_zone) | {"x_changed": rng.randint(1, 9)}))
    for _ in range(rng.randint(0, 8)):
        order.insert(rng.randint(0, len(order)), bad_line(rng, rng.choice(records), id_key))
    return order


def has_zone(record: dict) -> bool:
    ts = record.get("ts")
    return ts is None or ts[-1] in "zZ" or ts[-6] in "+-"


def bad_line(rng: random.Random, record: dict, id_key: str | None) -> bytes:
    """One line that breaks exactly one rule; its id is new, so that only the rule speaks."""
    record = dict(record)
    if id_key:
        record[id_key] = f"bad-{rng.randint(0, 10**9)}"
    kinds = ["syntax", "missing"]
    kinds += ["ts", "ts"] if "ts" in record else []
    kinds += ["field"] if id_key else []
    kind = rng.choice(kinds)
    if kind == "syntax":
        return broken_syntax(rng, record)
    if kind == "missing":
        key = id_key or "failure_signature"
        record[key] = rng.choice([None, "", 7, ["x"]])
    elif kind == "ts":
        record["ts"] = rng.choice(
            [
                None,
                1735000000,
                "",
                "2025-01-10",
                "2025-01-10T10:00Z",
                "2025-01-10T10:00:00+0200",
                "2025-W02-5T10:00:00Z",
            ]
            + [
                "2025-02-30T10:00:00Z",
                "2025-01-10T24:00:00Z",
                "2025-01-10T10:00:60Z",
                "2025-01-10T10:00:00.Z",
            ]
            + [
                "1999-12-31T23:59:59Z",
                "2000-01-01T00:00:00+02:00",
                "2199-01-01T00:00:00Z",
                " 2025-01-10T10:00:00Z",
            ]
            + [
                "9999-12-31T23:59:59-10:00",
                "0001-01-01T00:00:00+10:00",
                "2025-01-10T10:00:00+24:00",
                "yesterday",
            ]
            + ["2025-01-10T10:00:00Z\n", "２０２５-01-10T10:00:00Z", "2025-01-10T10:00:00 Z"]
        )
    else:
        record |= rng.choice(BAD_FIELDS[kind_of(record)])
    return dump(rng, record)


def kind_of(record: dict) -> str:
    if "cycle" in record:
        return "heal"
    if "phase" in record:
        return "run"
    if "component" in record:
        return "surface"
    return "protected" if "kind" in record else "case"


def broken_syntax(rng: random.Random, record: dict) -> bytes:
    good = json.dumps(record).encode()
    return rng.choice(
        [
            good[:-1],
            good[:-1] + b",}",
            good[:-1] + b',"x":NaN}',
            good[:-1] + b',"x":-Infinity}',
            good[:-1] + b',"x":"\\ud800"}',
            good[:-1] + b',"x":"\xff\xfe"}',
            good[:-1] + b',"x":"a\x00b"}',
            good[:-1] + b',"id":"twice","id":"twice","ts":null,"ts":null}',
            good[:-1] + b',"x":01}',
            good[:-1] + b",'x':1}",
            good + good,
            b"[" + good + b"]",
            b"null",
            b'"text"',
            b"# a comment",
            b"id,ts,loop",
        ]
    )


BAD_FIELDS = {
    "heal": [
        {"cycle": 0},
        {"cycle": -1},
        {"cycle": 1.5},
        {"cycle": 1.0},
        {"cycle": "1"},
        {"cycle": True},
        {"cycle": None},
        {"level": 4},
        {"level": -1},
        {"level": 2.0},
        {"level": True},
        {"level": None},
        {"loop_id": None},
        {"loop_id": ""},
        {"loop_id": 3},
        {"trigger": None},
        {"trigger": "Err:A"},
        {"trigger": {}},
        {"trigger": {"failure_signature": ""}},
        {"trigger": {"failure_signature": 5}},
        {"change": "text"},
        {"change": []},
        {"change": {"target": 5}},
        {"change": {"after_text": ["a"]}},
        {"change": {"before_hash": 1}},
        {"visible_before": 1.0000001},
        {"visible_after": -0.1},
        {"holdout_before": "0.5"},
        {"holdout_after": True},
        {"holdout_after": 2},
        {"score": False},
        {"score": [0.5]},
        {"holdout_scope": "both"},
        {"tokens_spent": -1},
        {"tokens_spent": 10.0},
        {"task_tokens": "100"},
        {"task_tokens": True},
        {"was_real_failure": 1},
        {"was_real_failure": "true"},
        {"label_source": "me"},
        {"actor": 5},
    ],
    "run": [
        {"suite": "Surface"},
        {"suite": None},
        {"phase": "during"},
        {"phase": None},
        {"results": None},
        {"results": []},
        {"results": {"case_0": "PASS"}},
        {"results": {"case_0": True}},
        {"results": {"case_0": None}},
        {"heal_id": 5},
        {"claim": "yes"},
        {"state_hash": 1},
    ],
    "surface": [{"safety": "yes"}, {"safety": 1}, {"component": 5}, {"text": 5}, {"id": {}}],
    "case": [{"text": 5}, {"id": False}, {"text": ["a"]}, {"slice": "edge"}, {"slice": 1}],
    "protected": [
        {"kind": "rule"},
        {"kind": None},
        {"target": None},
        {"target": ""},
        {"target": 1},
        {"text": 7},
    ],
}

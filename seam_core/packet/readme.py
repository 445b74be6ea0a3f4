"""What a packet says about itself, for a person who has nothing but the file."""

from __future__ import annotations

import json
import shlex

from seam_core import escape
from seam_core.packet.recipe import INPUTS, REPORT, SEAM, Manifest, Recipe
from seam_core.packet.rows import TABLES
from seam_core.report import Audit
from seam_core.summary import verdict
from seam_core.workspace import FIXTURES_FOLDER

VERIFY = "python -m seam_core packet verify PACKET.zip"


def readme(manifest: Manifest, audit: Audit) -> str:
    """README.md of a packet, ending in a newline."""
    recipe = manifest.recipe
    has_logs = any(one.in_packet and one.member == manifest.recipe.heals for one in manifest.inputs)
    source = "the files in here" if has_logs else "the first bytes of the logs in FOLDER"
    parts = [
        "# Evidence packet of a SEAM report",
        escape.markdown(verdict(audit)),
        f"Window {audit.window.label} ({recipe.window}, ending {recipe.as_of}). {manifest.note}",
        "Logs can hold what the agent saw: pass a packet on as you would pass on the logs.\n" if has_logs else "",
        "## Compute the report again",
        f"In a copy of the SEAM repository, version {manifest.versions.get(SEAM, 'unknown')}, with this file in place of PACKET.zip:",
        f"```sh\n{VERIFY}{'' if has_logs else ' --logs FOLDER'}\n```",
        f"It checks every digest, computes everything anew from {source} and says whether `{REPORT}` comes out"
        " the same to the byte. Whatever was added to the logs since does not matter."
        " An environment with the same versions: `python -m venv .venv && .venv/bin/pip install -r requirements.txt`"
        " with the requirements.txt in here.",
        *_plainly(manifest, has_logs=has_logs),
        "## What is in here",
        "\n".join(_contents(has_logs=has_logs)),
        "## Files that were read",
        "\n".join(_inputs(manifest)),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def requirements(manifest: Manifest) -> str:
    """The versions the report was computed with, for pip."""
    pins = (f"{name}=={found}" for name, found in manifest.versions.items() if name not in (SEAM, "python") and found != "unknown")
    return f"# Python {manifest.versions.get('python', 'unknown')}\n" + "".join(f"{pin}\n" for pin in pins)


def server_toml(recipe: Recipe) -> str:
    """The thresholds that the server held, as server settings."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in recipe.server_thresholds.items()]
    return "# The thresholds that the server held; nothing else of its settings is here.\n[thresholds]\n" + "\n".join(lines) + "\n"


def command(recipe: Recipe) -> str:
    """The command line that prints the same report from the unpacked packet."""
    options = {"--window": recipe.window, "--as-of": recipe.as_of, "--now": recipe.now, "--require": ",".join(recipe.require)}
    options |= {f"--{key.replace('_', '-')}": str(value) for key, value in recipe.flags.items()}
    words = ["python", "run_seam.py", "--heals", f"packet/{INPUTS}/{recipe.heals}"]
    words += [word for key, value in options.items() if value for word in (key, value)]
    server = f"SEAM_SETTINGS=packet/{INPUTS}/server.toml " if recipe.server_thresholds else ""
    return server + shlex.join(words)


def _plainly(manifest: Manifest, *, has_logs: bool) -> list[str]:
    """The same without the packet's own tool, where the command line alone gives the same bytes."""
    recipe = manifest.recipe
    label = FIXTURES_FOLDER if recipe.fixtures_apart else "."
    apart = not recipe.fixtures_apart or any(one.member.startswith(f"{FIXTURES_FOLDER}/") and one.in_packet for one in manifest.inputs)
    if not has_logs or recipe.unreadable or not recipe.has_ledger or recipe.ledger_fault or recipe.fixtures_label != label or not apart:
        return []
    return [
        "The same by hand, with this file unpacked into a folder named packet:",
        f"```sh\n{command(recipe)} > again.json\ncmp again.json packet/{REPORT}\n```",
    ]


def _contents(*, has_logs: bool) -> list[str]:
    lines = [
        f"- `{REPORT}`: the report, as the command line prints it",
        "- `digest.md`: the same for a chat",
        "- `settings.json`: every threshold in force, its default and where it was set",
        "- `manifest.json`: how it was computed, from which bytes, with which versions",
    ]
    lines += [f"- `rows/{name}.csv`: {meaning}" for name, (meaning, _) in TABLES.items()]
    lines.append("- `rows/rejected_lines.csv`: every line that was not taken, and why")
    return [*lines, f"- `{INPUTS}/`: the files themselves, as far as they were read"] if has_logs else lines


def _inputs(manifest: Manifest) -> list[str]:
    lines = ["| file | bytes used | how it was read | sha256 of those bytes |", "|---|---:|---|---|"]
    for one in manifest.inputs:
        name = escape.code(one.member).replace("|", "¦")
        lines.append(f"| {name} | {one.bytes_used:,} | {one.how} | {f'`{one.sha256}`' if one.sha256 else 'not read'} |")
    return lines

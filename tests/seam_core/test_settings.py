"""Thresholds: the agreed defaults, what may set them, who wins, and what no workspace may loosen."""

from dataclasses import asdict, fields
from pathlib import Path

import pytest

from seam_core.errors import SeamError, SettingsError
from seam_core.notify.hooks import Hook, Hooks
from seam_core.settings import ServerSettings, Settings, bounds, read_server_settings, resolve
from tests.seam_core.workspaces import heal, write


def test_the_defaults_are_the_agreed_ones():
    """The published defaults, in the order of docs/settings.md."""
    assert asdict(Settings()) == {
        "gap_max": 0.25,
        "r_max": 0.05,
        "drift_max": 0.20,
        "recurrence_days": 7,
        "similarity_min": 0.90,
        "similarity_method": "indel",
        "paraphrase_min": 0.70,
        "suspect_min": 0.60,
        "revisit_window": 5,
        "free_dips": 1,
        "depth_cap": 5,
        "alert_s": 0.70,
        "alert_e": 0.80,
        "alert_a": 0.90,
        "alert_m": 0.60,
        "contamination_max": 0.05,
        "ngram": 8,
        "ngram_coverage": 0.5,
        "budget_elevated": 3,
        "budget_escalated": 6,
        "surface_sample": 20,
        "trend_loops": 16,
        "trend_p": 0.02,
        "trend_rise": 0.05,
    }


def test_every_threshold_says_what_it_means_and_lies_within_its_bounds():
    for key, (default, bound) in bounds().items():
        assert bound.meaning, key
        assert isinstance(default, str) or bound.low <= default <= bound.high, key


@pytest.fixture
def of_text(tmp_path):
    """The settings that a seam.toml with this text gives."""

    def resolved(text, **options):
        (tmp_path / "seam.toml").write_text(text, encoding="utf-8")
        return resolve(tmp_path / "seam.toml", **options)

    return resolved


def test_seam_toml_sets_thresholds_and_the_report_names_what_differs(of_text):
    found = of_text("\ufeffgap_max = 0.3\nalert_e = 0.8  # the default, said aloud\nbudget_escalated = 8\n")
    assert found.settings.changed() == {"gap_max": 0.3, "budget_escalated": 8}
    assert found.origin == {"gap_max": "seam.toml", "alert_e": "seam.toml", "budget_escalated": "seam.toml"}
    assert found.notes == ()


def test_without_a_seam_toml_the_defaults_hold(tmp_path):
    assert resolve(tmp_path / "seam.toml") == resolve(None)
    assert resolve(None).settings == Settings()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("gap_maxx = 0.3", "seam.toml: unknown key gap_maxx; did you mean gap_max?"),
        ("aler_m = 0.3", "seam.toml: unknown key aler_m; did you mean alert_m?"),
        ("[alerts]\ns = 1", "seam.toml: unknown key alerts; did you mean alert_s?"),
        ('gap_max = "0.3"', "seam.toml: gap_max must be a number, found '0.3'"),
        ("gap_max = true", "seam.toml: gap_max must be a number, found True"),
        ("gap_max = [0.3]", "seam.toml: gap_max must be a number, found [0.3]"),
        ("gap_max = 0", "seam.toml: gap_max must be above 0 and at most 1, found 0"),
        ("gap_max = -0.1", "seam.toml: gap_max must be above 0 and at most 1, found -0.1"),
        ("gap_max = nan", "seam.toml: gap_max must be above 0 and at most 1, found nan"),
        ("gap_max = inf", "seam.toml: gap_max must be above 0 and at most 1, found inf"),
        ("alert_s = 1.01", "seam.toml: alert_s must be from 0 to 1, found 1.01"),
        ("alert_s = false", "seam.toml: alert_s must be a number, found False"),
        ("ngram = 8.0", "seam.toml: ngram must be a whole number, found 8.0"),
        ("ngram = true", "seam.toml: ngram must be a whole number, found True"),
        ("ngram = 1", "seam.toml: ngram must be from 2 to 50, found 1"),
        ("trend_loops = 7", "seam.toml: trend_loops must be from 8 to 1000, found 7"),
        ("recurrence_days = 2026-01-01", "seam.toml: recurrence_days must be a number"),
        ('similarity_method = "cosine"', "seam.toml: similarity_method must be one of indel, difflib, embedding, found 'cosine'"),
        ("similarity_method = 1", "seam.toml: similarity_method must be one of indel, difflib, embedding, found 1"),
        ("budget_elevated = 7", "budget_escalated (6) must not be below budget_elevated (7)"),
        ("gap_max = 0.3\ngap_max = 0.4", "not TOML"),
        ("gap_max 0.3", "not TOML"),
        ('reviewers = ["ana"]', "reviewers limits or commands people and belongs to the server settings (SEAM_SETTINGS)"),
        ("approvals_required = 1", "approvals_required limits or commands people"),
        ('ledger = "/tmp/x"', "ledger limits or commands people"),
        ("[sign_in]\nissuer = 'x'", "sign_in limits or commands people"),
        ("[hooks]\nurl = 'x'", "hooks limits or commands people"),
        ("[thresholds]\ngap_max = 1", "write thresholds as plain keys"),
    ],
    ids=lambda value: value.split("\n")[0][:32],
)
def test_a_wrong_seam_toml_is_refused_with_its_key_and_reason(of_text, text, complaint):
    with pytest.raises(SettingsError) as refused:
        of_text(text)
    assert complaint in str(refused.value)


@pytest.mark.parametrize("number", ["1", "1.0", "0.5"])
def test_whole_and_broken_numbers_are_both_numbers(of_text, number):
    assert of_text(f"alert_e = {number}").settings.alert_e == float(number)


def test_a_seam_toml_that_cannot_be_read_is_refused(cli, tmp_path):
    """Silently falling back to the defaults would loosen what somebody had set."""
    heals = write(tmp_path, heal_events=[heal(1)])
    target = tmp_path / "seam.toml"
    target.mkdir()
    assert "is a folder" in cli("--heals", heals).err
    target.rmdir()
    target.symlink_to(target)
    assert "Too many levels of symbolic links" in cli("--heals", heals).err
    target.unlink()
    target.write_bytes(b"\xff")
    ran = cli("--heals", heals)
    assert ran.refused
    assert f"{target}: not TOML" in ran.err


def test_budgets_may_be_equal_but_not_in_the_wrong_order(of_text):
    assert of_text("budget_elevated = 6").settings.budget_elevated == 6
    with pytest.raises(SettingsError, match=r"budget_escalated \(2\.5\) must not be below budget_elevated \(3\)"):
        of_text("budget_escalated = 2.5")
    assert of_text("budget_escalated = 2.5", flags={"budget_elevated": 1}).settings.budget_escalated == 2.5


def test_a_flag_wins_over_seam_toml(of_text):
    found = of_text("gap_max = 0.3\nr_max = 0.1", flags={"gap_max": 0.2})
    assert (found.settings.gap_max, found.settings.r_max) == (0.2, 0.1)
    assert found.origin == {"gap_max": "flag", "r_max": "seam.toml"}


def test_a_flag_is_checked_like_a_key():
    with pytest.raises(SettingsError, match="flag: alert_e must be from 0 to 1, found 2"):
        resolve(None, flags={"alert_e": 2})


# ---- server settings


@pytest.fixture
def server(tmp_path):
    """The server settings of a file with this text."""

    def read(text):
        path = tmp_path / "server.toml"
        path.write_text(text, encoding="utf-8")
        return read_server_settings({"SEAM_SETTINGS": str(path)})

    return read


def test_without_server_settings_use_is_local():
    assert read_server_settings({}) == ServerSettings()
    assert read_server_settings({"SEAM_SETTINGS": ""}) == ServerSettings()
    assert ServerSettings().approvals_required == 1


def test_server_settings_are_read_from_the_file_that_is_named(server, tmp_path):
    found = server(
        'ledger = "/srv/seam/decisions.sqlite"\nreviewers = ["ana", "bo"]\napprovals_required = 2\n'
        '[sign_in]\nissuer = "https://id.example"\n[hooks]\nurls = { team = "json://hook.example" }\n[thresholds]\nalert_e = 0.9\n'
    )
    assert found.file == tmp_path / "server.toml"
    assert (found.ledger, found.reviewers, found.approvals_required) == (Path("/srv/seam/decisions.sqlite"), ("ana", "bo"), 2)
    assert (found.sign_in.issuer, found.hooks) == ("https://id.example", Hooks((Hook("team", url="json://hook.example"),)))
    assert found.thresholds == {"alert_e": 0.9}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("reviewer = []", "unknown key reviewer; did you mean reviewers?"),
        ("alert_e = 0.9", "alert_e is a threshold; put it under [thresholds]"),
        ("approvals_required = 3", "approvals_required must be 1 or 2, found 3"),
        ("approvals_required = 0", "approvals_required must be 1 or 2, found 0"),
        ("approvals_required = true", "approvals_required must be 1 or 2, found True"),
        ('approvals_required = "2"', "approvals_required must be 1 or 2, found '2'"),
        ('reviewers = "ana"', "reviewers must be a list of names"),
        ("reviewers = [1]", "reviewers must be a list of names"),
        ('reviewers = ["ana", " "]', "reviewers must be a list of names, none of them empty"),
        ("sign_in = 5", "sign_in must be a table, found 5"),
        ("[sign_in]\nisuer = 'x'", "[sign_in]: unknown key isuer; did you mean issuer?"),
        ("ledger = 5", "ledger must be a path"),
        ("hooks = 5", "hooks must be a table, found 5"),
        ("thresholds = 5", "thresholds must be a table, found 5"),
        ("[thresholds]\nalert_x = 1", "unknown key alert_x; did you mean alert_"),
        ("[thresholds]\nalert_e = 2", "alert_e must be from 0 to 1, found 2"),
        ("[thresholds]\nreviewers = 2", "reviewers limits or commands people"),
        ("= 5", "not TOML"),
    ],
    ids=lambda value: value.replace("\n", " ")[:32],
)
def test_wrong_server_settings_are_refused(server, text, complaint):
    with pytest.raises(SettingsError) as refused:
        server(text)
    assert "server.toml: " in str(refused.value)
    assert complaint in str(refused.value)


@pytest.mark.parametrize("name", ["missing.toml", "", "x" * 5000, "file.txt/x"])
def test_a_server_settings_file_that_is_none_is_refused(tmp_path, name):
    (tmp_path / "file.txt").write_text("x")
    path = tmp_path / name
    with pytest.raises(SettingsError, match="SEAM_SETTINGS names "):
        read_server_settings({"SEAM_SETTINGS": str(path)})


FIXED = {item.name: 0.5 for item in fields(Settings) if item.name.startswith("alert_")} | {
    "gap_max": 0.2,
    "revisit_window": 6,
    "trend_loops": 20,
}


@pytest.mark.parametrize(
    ("key", "value", "holds"),
    [
        ("alert_e", 0.4, True),
        ("alert_e", 0.5, False),
        ("alert_e", 0.6, False),
        ("gap_max", 0.3, True),
        ("gap_max", 0.1, False),
        ("revisit_window", 5, True),
        ("revisit_window", 7, False),
        ("trend_loops", 16, True),
        ("trend_loops", 24, True),
        ("trend_loops", 20, False),
        ("r_max", 1, False),
    ],
)
@pytest.mark.parametrize("source", ["seam.toml", "flag"])
def test_no_workspace_and_no_flag_loosens_what_the_server_fixed(of_text, key, value, holds, source):
    server = ServerSettings(file=Path("/etc/seam.toml"), thresholds=FIXED)
    text, flags = (f"{key} = {value}", {}) if source == "seam.toml" else ("", {key: value})
    found = of_text(text, flags=flags, server=server)
    assert getattr(found.settings, key) == (FIXED[key] if holds else value)
    assert found.notes == ((f"{source} sets {key} = {value}; the server holds it at {FIXED[key]}",) if holds else ())
    assert found.origin[key] == ("/etc/seam.toml" if holds else source)


def test_every_direction_of_strictness_is_the_one_that_alerts_more():
    """Stricter is what makes a score lower or an alert likelier; written down once more, by hand."""
    lower = ["gap_max", "r_max", "drift_max", "similarity_min", "free_dips", "depth_cap", "contamination_max", "ngram", "ngram_coverage"]
    lower += ["paraphrase_min", "suspect_min", "budget_elevated", "budget_escalated", "trend_rise"]
    higher = ["recurrence_days", "revisit_window", "alert_s", "alert_e", "alert_a", "alert_m", "surface_sample", "trend_p"]
    assert {key: bound.stricter for key, (_, bound) in bounds().items()} == {
        **dict.fromkeys(lower, "lower"),
        **dict.fromkeys(higher, "higher"),
        "similarity_method": "same",
        "trend_loops": "same",
    }


def test_seam_errors_are_one_family():
    assert issubclass(SettingsError, SeamError)

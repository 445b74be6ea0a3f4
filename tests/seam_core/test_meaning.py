"""Other words: the real model says which sentences say the same, revisits that only it finds, held-out cases that it suspects, and what
happens without it.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from seam_core import meaning, settings
from seam_core.errors import SettingsError
from seam_core.meaning import INSTALL, is_installed, model, sentences_of, share_said
from seam_core.settings import ServerSettings, resolve
from seam_core.similarity import revisit_similarity, similarity
from seam_core.views import leaks
from tests.seam_core.workspaces import audited, heal, loop, report_on, write

ROOT = Path(__file__).resolve().parents[2]
with_the_model = pytest.mark.skipif(not is_installed(), reason=f"the model is not installed: {INSTALL}")

FIRST = "Retry the request at most three times. Then hand the case over to a person. Never promise a refund before the order was checked."
AGAIN = (
    "Then hand over the case to a person. Retry the request three times at the most. Before the order was checked never promise a refund."
)
OTHER = "Answer in the language of the customer. Keep summaries under two sentences. Prices come from the cache while the feed is stale."


def says(method):
    return {"similarity_method": method}


# ---- without the model


def test_asking_for_a_model_that_is_not_installed_is_one_sentence(tmp_path, cli, monkeypatch):
    monkeypatch.setattr(meaning, "is_installed", lambda: False)
    heals = write(tmp_path, heal_events=[heal(1)], settings='similarity_method = "embedding"\n')
    ran = cli("--heals", heals)
    assert ran.refused
    assert f'seam.toml: similarity_method = "embedding" needs a model that is not installed: {INSTALL}' in ran.err
    assert cli("--heals", heals, "--similarity-method", "indel").code != 3  # a flag wins, and asks for no model


def test_a_server_that_holds_the_method_says_where_the_model_is_asked_for(monkeypatch):
    monkeypatch.setattr(meaning, "is_installed", lambda: False)
    server = ServerSettings(file=Path("/etc/seam.toml"), thresholds=says("embedding"))
    with pytest.raises(SettingsError, match=r"^/etc/seam.toml: similarity_method"):
        resolve(None, server=server)


def test_sentences_are_the_lines_and_what_ends_within_them():
    assert sentences_of("- One; two.  Three!\n\n  four? \n v1.2 five") == ["- One;", "two.", "Three!", "four?", "v1.2 five"]
    assert [len(one) for one in sentences_of("x" * 4_500)] == [2_000, 2_000, 500]
    assert sentences_of(" \n\n ") == []


def test_what_differs_in_too_many_sentences_is_not_asked_about(monkeypatch):
    monkeypatch.setattr(meaning, "model", lambda: pytest.fail("asked"))
    many = "\n".join(f"line {n}" for n in range(meaning.COMPARED_MAX + 1))
    assert share_said(many, "another line", least=0.7) == 0.0
    assert share_said("", "", least=0.7) == 0.0


# ---- with it


@with_the_model
def test_the_model_is_read_without_importing_its_package_or_reaching_for_the_network():
    code = """
import sys, socket
sys.addaudithook(lambda event, found: sys.exit(event) if event in ("socket.connect", "socket.getaddrinfo") else None)
from seam_core.meaning import model
print(model().vectors(["Retry twice.", ""]).shape, *[name for name in ("wordllama", "huggingface_hub", "requests") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "(2, 256)\n"


LONG, QUEUE = (
    "When the queue is long, ask the customer before retrying.",
    "If there is a long queue, check with the customer first, then retry.",
)
LIGHT, PLANTS = "Explain how photosynthesis turns light into chemical energy.", "Describe how plants convert sunlight into chemical energy."
REPLY, PRICES = "Reply in whatever language the customer writes in.", "Prefer cached prices as long as the feed is stale."
KEEP, CARD = "Keep every summary to a maximum of two sentences.", "Do not give out the card number of a customer to anybody."


@with_the_model
@pytest.mark.parametrize(
    ("one", "other", "is_same"), [(LONG, QUEUE, True), (LIGHT, PLANTS, True), (REPLY, PRICES, False), (KEEP, CARD, False)]
)
def test_sentences_that_say_the_same_are_nearer_than_others(one, other, is_same):
    first, second = model().vectors([one, other])
    assert (first @ second >= settings.Settings().suspect_min) == is_same
    assert first @ first == pytest.approx(1, abs=1e-5)


@with_the_model
def test_the_share_said_again_is_counted_in_characters_of_both_texts():
    """Of 60 and 40 characters one sentence of 20 is in both: (20 + 20) ÷ 100."""
    same, many, more = "Ask the person first", "Zebra quartz volcano", "0123456789 987654321"
    assert (len(same), len(many), len(more)) == (20, 20, 20)
    old, new = f"{same}\n{many}\n{more}", f"{same}\nPurple harvest 77 km"
    assert len(new.splitlines()[1]) == 20
    assert share_said(old, new, least=0.99) == pytest.approx(40 / 100)


@with_the_model
def test_a_text_in_other_words_is_a_revisit_by_embedding_alone():
    assert similarity(FIRST, AGAIN) < 0.8
    assert revisit_similarity(FIRST, AGAIN, minimum=0.9, method="indel") is None
    assert revisit_similarity(FIRST, AGAIN, minimum=0.9, method="embedding", paraphrase_min=0.7) == pytest.approx(1.0)
    assert revisit_similarity(FIRST, OTHER, minimum=0.9, method="embedding", paraphrase_min=0.7) is None


@with_the_model
@pytest.mark.parametrize("pair", [(FIRST, FIRST + "!"), (FIRST, OTHER), ("", FIRST), ("", ""), ("\ud800", "x"), ("a" * 9_000, "b" * 9_000)])
def test_embedding_is_never_below_indel(pair):
    by_letters, by_meaning = similarity(*pair), similarity(*pair, method="embedding", paraphrase_min=0.7)
    assert by_letters <= by_meaning <= 1


@with_the_model
def test_monotonicity_counts_the_return_in_other_words(tmp_path):
    """Cycle 3 goes back to cycle 1 in other words: one revisit, M = 1 − 0.4. By letters there is none."""
    heals = write(tmp_path, heal_events=loop("a", [0.1, 0.2, 0.3], target="prompt", text=[FIRST, OTHER, AGAIN]))
    assert report_on(heals)["monotonicity"]["returned"] == 0
    found = report_on(heals, **says("embedding"))
    assert (found["monotonicity"]["returned"], found["M"]) == (1, 0.6)
    assert found["settings"]["similarity_method"] == "embedding"


EXAM = [
    {"id": "c1", "text": "Explain how photosynthesis turns light into chemical energy and which part the leaves of a plant have in it."},
    {"id": "c2", "text": "A customer in Lyon reports that the invoice shows a wrong amount. She asks for a corrected invoice by Friday."},
    {"id": "c3", "text": "Write a function that returns the second largest element of a list, and say what it does with an empty one."},
]
TOLD = "A customer from Lyon says the invoice shows the wrong amount. She wants a corrected invoice until Friday."


@with_the_model
def test_a_held_out_case_in_other_words_is_a_suspect_and_changes_no_rate(tmp_path):
    heals = write(tmp_path, heal_events=[heal(1, text=OTHER), heal(2, text=f"{OTHER}\n- Example: {TOLD}")], holdout=EXAM)
    with audited(heals) as found:
        assert found.scope.rows("paraphrase_rows") == []
    with audited(heals, **says("embedding")) as found:
        (row,) = found.scope.rows("paraphrase_rows")
        told = " ".join(leaks.find_leaks(found).sentences)
    assert "1 held-out case may stand in other words in what heals added: c2. A model suspects it and the rate leaves it out" in told
    assert (row["case_id"], row["heal_id"], row["sentence"]) == ("c2", "h2", "She asks for a corrected invoice by Friday.") or (
        row["case_id"], row["heal_id"], row["sentence"],
    ) == ("c2", "h2", "A customer in Lyon reports that the invoice shows a wrong amount.")  # fmt: skip
    assert row["share"] >= 0.5
    assert found.efficacy.contamination.rate == 0.0
    assert "1 held-out case may stand in other words in what heals added: c2; a model suspects it, and a person has to look" in found.flags


@with_the_model
def test_what_stands_there_word_for_word_is_contamination_and_no_suspect(tmp_path):
    heals = write(tmp_path, heal_events=[heal(1, text=OTHER), heal(2, text=f"{OTHER}\n{EXAM[1]['text']}")], holdout=EXAM)
    with audited(heals, **says("embedding")) as found:
        assert found.efficacy.contamination.n_contaminated == 1
        assert found.scope.rows("paraphrase_rows") == []


@with_the_model
def test_the_words_of_a_leaked_case_make_no_other_case_a_suspect(tmp_path):
    """c4 shares its long sentence with c2, but for a number; c2 is pasted. Nothing more is known of c4."""
    first = "A customer in Lyon reports that the invoice 17 shows a wrong amount."
    exam = [
        {"id": "c2", "text": f"{first} Who has to sign the copy?"},
        {"id": "c4", "text": f"{first.replace('17', '23')} Which team is told of it?"},
    ]
    heals = write(tmp_path, heal_events=[heal(1, text=OTHER), heal(2, text=f"{OTHER}\n{exam[0]['text']}")], holdout=exam)
    with audited(heals, **says("embedding")) as found:
        assert [row["case_id"] for row in found.scope.rows("contamination_rows") if row["contaminated"]] == ["c2"]
        assert found.scope.rows("paraphrase_rows") == []
    told = write(tmp_path / "told", heal_events=[heal(1, text=OTHER), heal(2, text=f"{OTHER}\n{TOLD}")], holdout=exam)
    with audited(told, **says("embedding")) as found:
        assert [row["case_id"] for row in found.scope.rows("paraphrase_rows")] == ["c2", "c4"]

"""A server that is killed without a word: whatever it told its reader is in the ledger once, and nothing is there by halves."""

import random
import time
from contextlib import ExitStack

import pytest

from benchmarks.client import Session
from pages.parts.review import DECIDE
from seam_core.ledger import Ledger, verify
from seam_core.views.verdicts import WORDS
from tests.seam_core.workspaces import heal, write
from tests.servers import Server

MARKS = str.maketrans("", "", "\\\u2060")  # what keeps texts from being Markdown


def says(decision):
    """How the page confirms a decision."""
    heal_id, verdict, _ = decision
    return f"Your last: {heal_id} {WORDS[verdict]}."


class Reader(Session):
    """Somebody on the Heals page."""

    def decide(self, verdict, comment):
        """Press a verdict on the heal that is shown and wait for nothing; the decision."""
        button = self.widget(DECIDE[verdict].label)
        self.press(button, {"Comment, kept with the verdict": comment})
        return button.key.partition(" ")[2], verdict, comment

    def reads(self, sentence):
        """Whether the page says so before its script ends, or the server does."""
        return sentence in " ".join(self.rest()).translate(MARKS)


def soon(moments, _journal):
    time.sleep(moments.uniform(0, 0.03))


def in_the_write(moments, journal):
    until = time.monotonic() + 10
    while not journal.exists() and time.monotonic() < until:
        pass  # it is there for two milliseconds
    time.sleep(moments.choice((0, moments.uniform(0, 0.003))))


def later(moments, _journal):
    time.sleep(moments.uniform(0.03, 0.3))


def kill_again_and_again(folder, times, seed):
    """Two decisions a time, one that the page confirms and one in whose midst the server is killed; how many writes were cut in two."""
    write(folder, heal_events=[heal(number) for number in range(1, 5)])
    path, journal = folder / "decisions.sqlite", folder / "decisions.sqlite-journal"
    moments, tried, confirmed, n_cut = random.Random(seed), set(), set(), 0
    last = "You have not decided anything yet."
    with ExitStack() as running:
        following = running.enter_context(Server(folder, folder))
        for at in range(times):
            # The next server starts meanwhile; it looks at nothing before it is asked for a page.
            server, following = following, running.enter_context(Server(folder, folder))
            server.wait()
            with Reader(server.port) as reader:
                reader.open("heals", "win=all")
                assert last in " ".join(reader.texts).translate(MARKS)
                confirmed.add(decision := reader.decide(("real", "not_real")[at % 2], f"{at}, confirmed"))
                assert reader.reads(says(decision))
                tried.add(decision := reader.decide(("skip", "real")[at % 2], f"{at}, killed"))
                (soon, in_the_write, later)[at % 3](moments, journal)
                server.kill()
                n_cut += journal.exists()
                if reader.reads(says(decision)):
                    confirmed.add(decision)
            decided = [(row.decision.heal_id, row.decision.verdict, row.decision.comment) for row in Ledger(path).rows()]
            assert verify(path).holds
            assert len(decided) == len(set(decided))
            assert confirmed <= set(decided) <= confirmed | tried
            last = says(decided[-1])
    return n_cut


def test_what_a_page_confirmed_is_in_the_ledger_once_however_often_the_server_is_killed(tmp_path):
    assert kill_again_and_again(tmp_path, 20, seed=1) > 0


@pytest.mark.soak
def test_what_a_page_confirmed_is_in_the_ledger_once_after_two_hundred_killed_servers(tmp_path):
    assert kill_again_and_again(tmp_path, 200, seed=2) > 0

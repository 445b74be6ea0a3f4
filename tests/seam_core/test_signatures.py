"""Which signatures are probably one failure: the plain form of a signature, and each reason to suggest a merge."""

import random

import pytest

from seam_core import signatures
from seam_core.signatures import normalise, suggest


@pytest.mark.parametrize(
    ("signature", "plain"),
    [
        ("Timeout:Fetch-Tool:Price Feed", "timeout:fetch_tool:price_feed"),
        ("parse_error:queue.peek/v2:onboarding--split", "parse_error:queue_peek_v2:onboarding_split"),
        ("ＴＩＭＥＯＵＴ:ﬁ:x", "timeout:fi:x"),
        ("http500:tool_2:http500 after 3 retries", "http500:tool_2:http500_after_<number>_retries"),
        ("a:b:see https://host.test/x?y=1#z now", "a:b:see_<url>_now"),
        ("a:b:mail ana.b@host.test", "a:b:mail_<email>"),
        ("a:b:123e4567-e89b-12d3-a456-426614174000", "a:b:<uuid>"),
        ("a:b:at 2026-06-09T14:22:31Z", "a:b:at_<time>"),
        ("a:b:on 2026-06-09", "a:b:on_<time>"),
        ("a:b:10.0.0.1:8080", "a:b:<ip>"),
        ("a:b:open /usr/lib/x.py failed", "a:b:open_<path>_failed"),
        (r"a:b:c:\temp\x.txt", "a:b:<path>"),
        ("a:b:commit deadbeef1 0x1234567", "a:b:commit_<hex>_<hex>"),
        ("a:b:deadbeef facade", "a:b:deadbeef_facade"),
        ("a:b:after 12.5ms or 3 minutes", "a:b:after_<duration>_or_<number>_minutes"),
        ("a:b:split-9", "a:b:split_<number>"),
        ("a:b:v2 x86 2nd", "a:b:v2_x86_2nd"),
        ("a:b:HumanEval/145", "a:b:humaneval_<number>"),
        ("a:b:c:d:e", "a:b:c:d:e"),
        ("only words", "only_words::"),
        ("a:7", "a:7:"),
    ],
)
def test_the_plain_form(signature, plain):
    assert normalise(signature).text == plain


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("timeout:fetch:price_feed", "Timeout:fetch:price-feed", "spelling"),
        ("timeout:fetch:price_feed", "timeout_error:fetch:price_feed", "spelling"),
        ("timeout:fetch:price_feed", "timeout:fetch:price_feed-7", "added"),
        ("timeout:fetch:price_feed_3", "timeout:fetch:price_feed_7", "differs"),
        ("timeout:fetch:user_profile", "timeout:fetch:user_profiles", "alike"),  # 2 · 12 ÷ 25 = 96 %
        ("timeout:fetch:price_feed", "timeouts:fetch:price_feed", "alike"),  # types 2 · 7 ÷ 15 = 93 %
        ("timeout:fetch:user_profile_3", "timeout:fetch:user_profiles_3", "alike"),
    ],
)
def test_two_signatures_that_may_be_one(first, second, kind):
    (found,) = suggest({first: 2, second: 1}).found
    assert (found.kind, found.signatures) == (kind, (first, second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("timeout:fetch:price_feed", "timeout:mail:price_feed"),  # another tool
        ("timeout:fetch:price_feed", "timeout:fetch:price_feed_eu"),  # contexts 2 · 10 ÷ 23 = 87 %
        ("timeout:fetch:price_feed", "rate_limit:fetch:price_feed"),
        ("timeout:fetch:http500", "timeout:fetch:http404"),
        ("a:b:mbpp_120_max_product_tuple", "a:b:mbpp_409_min_product_tuple"),  # alike, but two names with two numbers
        ("timeout:v1:x", "timeout:v2:x"),
    ],
)
def test_two_signatures_that_are_two(first, second):
    assert suggest({first: 2, second: 1}).found == ()


def test_reasons_are_said_and_the_surest_come_first():
    frequency = {
        "t:x:feed_1": 9,
        "t:x:feed_2": 9,
        "t:y:user_profile": 5,
        "t:y:user_profiles": 5,
        "t:z:job": 3,
        "t:z:job_4": 3,
        "t:u:a b": 1,
        "T:u:a-b": 1,
    }
    assert [one.reason for one in suggest(frequency).found] == [
        "only case or separators differ",
        "the same words, some with a number",
        "types the same, contexts 96 % alike",
        "the same words, each with its own number",
    ]


def test_the_most_frequent_name_leads_and_the_order_of_the_log_does_not_matter():
    frequency = {f"t:x:feed {number}": number for number in range(1, 6)} | {"t:x:feed": 4}
    (found,) = suggest(frequency).found
    assert found.signatures == ("t:x:feed 5", "t:x:feed", "t:x:feed 4", "t:x:feed 3", "t:x:feed 2", "t:x:feed 1")
    shuffled = list(frequency.items())
    random.Random(1).shuffle(shuffled)
    assert suggest(dict(shuffled)) == suggest(frequency)


def test_each_name_follows_the_one_it_resembles_most():
    found = suggest({"t:x:user_profile_page": 3, "t:x:user_profile_pages": 2, "t:x:user_profile_pages_a": 1}).found
    assert [one.signatures for one in found] == [("t:x:user_profile_page", "t:x:user_profile_pages", "t:x:user_profile_pages_a")]


def test_what_is_too_long_to_compare_is_counted():
    found = suggest({"t:x:user_profile": 9, "t:x:" + "y" * 300: 5})
    assert (found.found, found.n_compared, found.n_long) == ((), 1, 1)


def test_in_a_crowded_tool_the_rare_are_compared_with_the_frequent_only(monkeypatch):
    monkeypatch.setattr(signatures, "LEADERS_MAX", 1)
    frequency = {"t:x:user_profile": 9, "t:x:other_thing": 8, "t:x:other_things": 2, "t:x:user_profiles": 1, "t:y:other_thing": 1}
    found = suggest(frequency)
    assert [one.signatures for one in found.found] == [("t:x:user_profile", "t:x:user_profiles")]
    assert found.n_rare == 2  # the two other things


def test_ten_thousand_signatures_of_one_tool_cost_little():
    """Unbounded it would be 50 million comparisons. Counted and not timed: a busy machine must not fail this."""
    rng = random.Random(3)
    names = {f"timeout:fetch:{''.join(rng.choices('abcdefgh', k=12))}{number}": 1 for number in range(10_000)}
    found = suggest(names)
    assert found.n_compared == 10_000
    assert found.n_rare == 10_000 - signatures.LEADERS_MAX - sum(len(one.signatures) - 1 for one in found.found)


@pytest.mark.parametrize("context", ["a-" * 140, "a@" * 140, "1." * 140, "/a" * 140, "a://" * 70, "f" * 280, "<number>" * 30])
def test_a_signature_made_to_be_slow_is_not(context):
    assert len(suggest({f"t:x:{context}": 1, f"t:x:{context}b": 1}).found) <= 1

"""Who may certify: reviewers against subject, checked address or system user; what a provider says; sign-outs; the table of rights."""

import threading
from pathlib import Path

import pytest

from seam_core.authority import Claims, NotAllowedError, Role, certifiers, check_role, read_claims, role_of
from seam_core.ledger import Local, SignedIn
from seam_core.settings import ServerSettings
from seam_core.sign_in import SignIn
from seam_core.signed_out import SignedOut
from seam_core.views.rights import reviewers, rights

HERE, OTHER = "https://id.test", "https://other.test"
ANA = SignedIn(issuer=HERE, subject="u-ana", name="Ana")
FILE = Path("/etc/seam.toml")


def server(*named, issuer="", **more):
    return ServerSettings(file=FILE, reviewers=named, sign_in=SignIn(issuer=issuer, client_id="seam"), **more)


@pytest.mark.parametrize(
    ("named", "email", "is_verified", "may"),
    [
        (["u-ana"], None, True, True),
        (["bo", "u-ana"], None, True, True),
        (["ana@x.test"], "ana@x.test", True, True),
        (["Ana@X.test"], "ana@x.TEST", True, True),
        (["sub:ana@x.test"], None, True, False),
        (["sub:u-ana"], None, True, True),
        (["u-an"], None, True, False),
        (["U-ANA"], None, True, False),  # a subject is compared to the letter
        (["Ana"], None, True, False),  # a name is for display; anybody may carry it
        (["ana@x.test"], None, True, False),
        (["ana@x.test"], "ana@x.test", False, False),
        (["ana@x.test"], "ana@x.test.evil", True, False),
        (["kim@x.test"], "\u212aim@x.test", True, False),  # the sign for kelvin, whose small form is a k
        (["@"], "", True, False),
        ([], "ana@x.test", True, False),
    ],
)
def test_who_signed_in_may_certify_by_subject_or_by_an_address_that_was_checked(named, email, is_verified, may):
    assert role_of(ANA, server(*named), email, is_verified=is_verified).may_certify is may


def test_a_subject_that_looks_like_somebodys_address_is_not_taken_for_it():
    posing = SignedIn(issuer=HERE, subject="ana@x.test", name="Eve")
    assert not role_of(posing, server("ana@x.test")).may_certify
    assert role_of(posing, server("sub:ana@x.test")).may_certify


@pytest.mark.parametrize(
    ("actor", "settings", "options", "sentence"),
    [
        (ANA, server("u-ana"), {}, "u-ana is among the reviewers in /etc/seam.toml"),
        (ANA, server(), {}, "nobody may certify yet: name reviewers in /etc/seam.toml"),
        (ANA, ServerSettings(), {}, "nobody may certify yet: name reviewers in a file that SEAM_SETTINGS names"),
        (ANA, server("bo"), {}, "your subject u-ana is not among the reviewers in /etc/seam.toml"),
        (ANA, server("bo"), {"email": "a@x.test"}, "neither your subject u-ana nor a@x.test is among the reviewers in /etc/seam.toml"),
        (ANA, server("a@x.test"), {"email": "a@x.test", "is_verified": False}, "does not say that it has checked it (email_verified)"),
        (ANA, server("u-ana", issuer=OTHER), {}, "only sign-ins by https://other.test may certify here, and yours is by https://id.test"),
        (ANA, server("u-ana"), {"n_providers": 2}, "set issuer under [sign_in] in /etc/seam.toml"),
        (ANA, server("u-ana", issuer=HERE), {"n_providers": 2}, "u-ana is among the reviewers"),
        (Local("ana"), ServerSettings(), {}, "nobody signs in here and no server settings name reviewers"),
        (Local("ana"), ServerSettings(file=FILE, reviewers=("ana",)), {}, "ana is among the reviewers"),
        (Local("ana"), ServerSettings(file=FILE, reviewers=("bo",)), {}, "ana is not among the reviewers"),
        (Local("ana"), server("ana"), {}, "decide on the dashboard"),
    ],
)
def test_the_reason_is_said_and_names_the_key_to_set(actor, settings, options, sentence):
    assert sentence in role_of(actor, settings, **options).sentence


@pytest.mark.parametrize(
    ("actor", "settings", "options", "may"),
    [
        (Local("ana"), ServerSettings(), {}, True),
        (Local("ana"), ServerSettings(file=FILE, reviewers=("ana",)), {}, True),
        (Local("ana"), ServerSettings(file=FILE, reviewers=("bo",)), {}, False),
        (Local("ana"), server("ana"), {}, False),  # one person may not be two: here and signed in
        (ANA, server("u-ana", issuer=HERE), {}, True),
        (ANA, server("u-ana", issuer=HERE + "/"), {}, False),  # issuers are compared to the letter
        (ANA, server("u-ana", issuer=OTHER), {}, False),
        (ANA, server("u-ana"), {"n_providers": 2}, False),
        (ANA, server("u-ana", issuer=HERE), {"n_providers": 2}, True),
    ],
)
def test_local_use_issuers_and_several_providers(actor, settings, options, may):
    assert role_of(actor, settings, **options).may_certify is may


def test_a_role_refuses_with_its_reason():
    check_role(Role(may_certify=True, sentence="you are the boss"))
    with pytest.raises(NotAllowedError, match="you may not certify: you are nobody"):
        check_role(Role(may_certify=False, sentence="you are nobody"))


# ---- what the provider says

SAID = {"iss": HERE, "sub": "u-ana", "name": "Ana", "email": "ana@x.test", "email_verified": True, "iat": 1_000, "exp": 4_600}


def test_claims_are_read_as_the_provider_says_them():
    assert read_claims(SAID) == Claims(HERE, "u-ana", "Ana", 1000.0, 4600.0, email="ana@x.test", email_verified=True)
    assert read_claims(SAID).actor == ANA


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        *(({key: wrong}, "who you are") for key in ("iss", "sub") for wrong in (None, "", " ", 5, ["u"])),
        ({"iss": "https://id.test x"}, "who you are"),
        ({"sub": "u" * 256}, "more than 255 characters"),
        *(
            ({key: wrong}, "since when")
            for key in ("iat", "exp")
            for wrong in (None, "soon", True, float("nan"), float("inf"), 10**400, -1)
        ),
    ],
)
def test_claims_that_do_not_say_who_or_until_when_are_refused(change, complaint):
    with pytest.raises(NotAllowedError, match=complaint):
        read_claims(SAID | change)


@pytest.mark.parametrize(
    ("said", "holds"), [(True, True), ("true", True), (False, False), ("false", False), (None, False), (1, False), ("yes", False)]
)
def test_only_a_plain_yes_makes_an_address_a_checked_one(said, holds):
    assert read_claims(SAID | {"email_verified": said}).email_verified is holds


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"name": ""}, "ana@x.test"),
        ({"name": None, "email": None}, "u-ana"),
        ({"name": ["Ana"], "email": 5}, "u-ana"),
        ({"name": "Ana\n\n B"}, "Ana B"),
        ({"name": "A" * 1000}, "A" * 199 + "…"),
    ],
)
def test_a_name_is_one_short_line(change, name):
    assert read_claims(SAID | change).name == name


# ---- sign-outs


def claims(issued_at, subject="u-ana"):
    return Claims(HERE, subject, "Ana", issued_at, issued_at + 3600)


def test_signing_out_ends_every_sign_in_seen_so_far_and_no_later_one():
    seen = SignedOut()
    assert not any(seen.has_ended(one) for one in (claims(100), claims(250), claims(100, "u-bo")))
    seen.end(claims(100))
    assert [seen.has_ended(claims(at)) for at in (90, 100, 250, 251)] == [True, True, True, False]
    assert not seen.has_ended(claims(100, "u-bo"))


def test_forgetting_somebody_for_want_of_room_does_not_let_them_back_in():
    seen = SignedOut(people_max=2)
    seen.end(claims(100))
    for subject in ("b", "c", "d"):
        seen.has_ended(claims(500, subject))
    assert seen.has_ended(claims(100))
    assert not seen.has_ended(claims(101))


def test_sign_outs_hold_under_many_threads():
    seen, wrong = SignedOut(people_max=50), []

    def work(number):
        for at in range(200):
            me = claims(at, f"u-{number}")
            seen.end(me)
            if not seen.has_ended(me):
                wrong.append((number, at))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- the table of rights


def told(settings, **options):
    return {one.what: one.who for one in rights(settings, **options)}


def test_rights_where_people_sign_in():
    found = told(server("u-ana", "bo@x.test", approvals_required=2), signs_in=True, is_local=False)
    assert found["Certify a baseline, or roll back"] == "2 reviewers: u-ana and bo@x.test"
    assert found["Approve what was certified"].startswith("A second of them, who is not the first")
    assert found["Give a verdict on a heal, or hand it over"].startswith("Everybody who signed in")
    assert found["Change this"].startswith("Whoever can write /etc/seam.toml")


@pytest.mark.parametrize(
    ("settings", "options", "who"),
    [
        (server(), {"signs_in": True}, "nobody: no reviewers are named in /etc/seam.toml"),
        (
            server("a"),
            {"signs_in": True, "n_providers": 2},
            "nobody: there are 2 providers and no issuer under [sign_in] in /etc/seam.toml",
        ),
        (server("a", issuer=HERE), {"signs_in": True, "n_providers": 2}, "1 reviewer, signed in by https://id.test: a"),
        (ServerSettings(), {"signs_in": False}, "whoever uses SEAM on this machine: no reviewers are named"),
    ],
)
def test_who_may_certify_in_words(settings, options, who):
    assert certifiers(settings, **options) == who


def test_rights_of_a_server_that_asks_nobody_who_they_are():
    found = told(ServerSettings(), signs_in=False, is_local=False)
    assert found["Certify a baseline, or roll back"] == "Nobody: the server can be reached from elsewhere, and nobody signs in"
    assert "the agent included, can replace all of it" in found["Change this"]


def test_each_reviewer_is_shown_as_it_is_read_and_yours_is_marked():
    named = reviewers(server("u-ana", "ana@x.test", "sub:b@x"), signs_in=True, you=ANA, email="ana@x.test")
    assert [(one.entry, one.is_you) for one in named] == [("u-ana", True), ("ana@x.test", True), ("sub:b@x", False)]
    assert [one.read_as[:10] for one in named] == ["the provid", "an e-mail ", "the provid"]
    (local,) = reviewers(ServerSettings(reviewers=("ana",)), signs_in=False, you=Local("ana"))
    assert (local.read_as, local.is_you) == ("a user of this machine", True)

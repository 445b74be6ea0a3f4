"""Who may decide, and certify: on loopback the system's user, elsewhere only who signed in; asked anew at the moment of writing."""

import time
from types import SimpleNamespace

import pytest
from streamlit.errors import StreamlitSecretNotFoundError
from streamlit.testing.v1 import AppTest

from pages.parts import identity
from seam_core.authority import NotAllowedError, read_claims, role_of
from seam_core.ledger import SignedIn, local_actor
from seam_core.settings import ServerSettings
from seam_core.signed_out import SignedOut
from tests.pages.test_settings import texts


class NoSecrets:
    def __getitem__(self, key):
        raise StreamlitSecretNotFoundError("none")


@pytest.fixture
def settings(monkeypatch, tmp_path):
    """Write the server settings, as somebody may while the server runs."""

    def write(text):
        (tmp_path / "server.toml").write_text(text, encoding="utf-8")
        monkeypatch.setenv("SEAM_SETTINGS", str(tmp_path / "server.toml"))

    monkeypatch.delenv("SEAM_SETTINGS", raising=False)
    return write


@pytest.fixture
def served(monkeypatch, settings):
    """Pretend to be served at an address, asked for by a host, with a provider or without."""

    def make(address="127.0.0.1", headers=None, secrets=None, user=None):
        fake = SimpleNamespace(
            logout=lambda: None,
            secrets=secrets if secrets is not None else NoSecrets(),
            context=SimpleNamespace(headers=headers or {}),
            get_option=lambda name: {"server.address": address}[name],
            user=user,
        )
        monkeypatch.setattr(identity, "st", fake)
        monkeypatch.setattr(identity, "_SIGNED_OUT", SignedOut())
        return identity.who()

    return make


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
@pytest.mark.parametrize("host", [None, "localhost:8501", "127.0.0.1:8501", "[::1]:8501"])
def test_on_loopback_without_a_provider_it_is_the_systems_user(served, address, host):
    assert served(address, {"Host": host} if host else {}).actor == local_actor()


@pytest.mark.parametrize("address", [None, "", "0.0.0.0", "::", "192.168.1.7", "seam.example.test", "127.evil.test"])
def test_a_server_that_listens_elsewhere_and_asks_nobody_writes_nothing(served, address):
    who = served(address)
    assert (who.actor, who.why_not, who.may_sign_in) == (None, identity.NOT_LOCAL, False)


@pytest.mark.parametrize(
    "headers", [{"Host": "seam.example.test"}, {"Host": "localhost", "X-Forwarded-For": "10.0.0.7"}, {"Forwarded": "for=10.0.0.7"}]
)
def test_behind_a_proxy_or_under_another_name_nobody_is_local(served, headers):
    assert served("127.0.0.1", headers).why_not == identity.NOT_LOCAL


def user(**claims):
    return SimpleNamespace(is_logged_in=bool(claims), to_dict=lambda: claims)


GOOD = {
    "iss": "https://id.test",
    "sub": "u1",
    "name": "Ana",
    "iat": 1_000,
    "exp": 4_102_444_800,
}  # 2100; a suite may run for longer than a sign-in


def test_with_a_provider_it_is_whoever_signed_in_even_on_loopback(served):
    assert served(secrets={"auth": {}}, user=user(**GOOD)).actor == SignedIn(issuer="https://id.test", subject="u1", name="Ana")
    assert served(secrets={"auth": {}}, user=user()).why_not == identity.NOT_SIGNED_IN
    assert served("0.0.0.0", secrets={"auth": {}}, user=user(**GOOD)).actor is not None


@pytest.mark.parametrize(
    ("change", "why_not"),
    [({"exp": time.time() - 1}, "your sign-in has expired"), *(({key: None}, "since when and until when") for key in ("iat", "exp"))],
)
def test_a_sign_in_that_is_over_or_does_not_say_when_decides_nothing(served, change, why_not):
    who = served(secrets={"auth": {}}, user=user(**GOOD | change))
    assert (who.actor, who.may_sign_in) == (None, True)
    assert why_not in who.why_not


@pytest.mark.parametrize("change", [{"iss": ""}, {"sub": None}])
def test_a_sign_in_that_says_nobody_decides_nothing(served, change):
    assert served(secrets={"auth": {}}, user=user(**GOOD | change)).actor is None


def test_a_name_is_the_mail_address_or_the_subject_where_there_is_none(served):
    assert served(secrets={"auth": {}}, user=user(**GOOD | {"name": "", "email": "a@b.test"})).actor.name == "a@b.test"
    assert served(secrets={"auth": {}}, user=user(**GOOD | {"name": ""})).actor.name == "u1"


# ---- certifying

TEAM = {"auth": {"client_id": "seam"}}


def refused():
    """Why whoever is here may not certify now."""
    with pytest.raises(NotAllowedError) as found:
        identity.may_certify_now()
    return str(found.value)


def test_in_local_use_the_systems_user_may_certify_until_reviewers_are_named(served, settings):
    assert served().role.may_certify
    identity.may_certify_now()
    settings('reviewers = ["somebody-else"]')
    assert "is not among the reviewers" in refused()
    settings(f'reviewers = ["{local_actor().name}"]')
    identity.may_certify_now()


def test_who_signed_in_may_certify_as_long_as_the_settings_name_them(served, settings):
    settings("")
    assert not served(secrets=TEAM, user=user(**GOOD)).role.may_certify
    assert "nobody may certify yet: name reviewers in" in refused()
    settings('reviewers = ["u1"]')
    identity.may_certify_now()
    settings('reviewers = ["u2"]')
    assert refused().startswith("you may not certify: your subject u1 is not among the reviewers in")


def test_settings_that_broke_while_a_page_was_open_let_nobody_certify(served, settings):
    settings('reviewers = ["u1"]')
    served(secrets=TEAM, user=user(**GOOD))
    settings('reviewers = ["u1"')
    assert "not TOML" in refused()


def test_an_address_counts_only_when_the_provider_has_checked_it(served, settings):
    settings('reviewers = ["a@b.test"]')
    served(secrets=TEAM, user=user(**GOOD, email="a@b.test", email_verified=True))
    identity.may_certify_now()
    served(secrets=TEAM, user=user(**GOOD, email="a@b.test"))
    assert "email_verified" in refused()


def test_a_sign_in_that_expires_while_the_page_is_open_is_refused_at_the_write(served, settings):
    settings('reviewers = ["u1"]')
    claims = GOOD | {"exp": time.time() + 0.05}
    served(secrets=TEAM, user=user(**claims))
    identity.may_certify_now()
    time.sleep(0.06)
    assert refused() == "your sign-in has expired; sign in again to decide"


def test_signing_out_ends_the_sign_in_of_every_tab_but_no_later_one(served, settings):
    settings('reviewers = ["u1"]')
    served(secrets=TEAM, user=user(**GOOD))
    identity.sign_out()
    assert (identity.who().actor, identity.who().why_not, identity.who().may_sign_in) == (None, identity.SIGNED_OUT, True)
    assert refused().startswith("you signed out, in another tab")
    identity.st.user = user(**GOOD | {"iat": 1_001})
    identity.may_certify_now()


def test_an_expired_sign_in_can_still_be_signed_out(served):
    served(secrets=TEAM, user=user(**GOOD | {"exp": 2_000}))
    identity.sign_out()
    assert identity._SIGNED_OUT.has_ended(read_claims(GOOD))


@pytest.mark.parametrize(
    ("auth", "names"),
    [
        ({"client_id": "seam", "client_kwargs": {"prompt": "login"}}, ("default",)),
        ({"google": {"client_id": "a"}, "entra": {"client_id": "b"}}, ("entra", "google")),
        ({"client_id": "seam", "google": {"client_id": "a"}}, ("default", "google")),
        ({"default": {"client_id": "a"}}, ("default",)),
        ({}, ("default",)),
        ("nonsense", ("default",)),
    ],
)
def test_which_providers_there_are(served, auth, names):
    served(secrets={"auth": auth}, user=user())
    assert identity.names_of_providers() == names


def test_with_several_providers_one_issuer_must_be_named(served, settings):
    several = {"auth": {"google": {"client_id": "a"}, "entra": {"client_id": "b"}}}
    settings('reviewers = ["u1"]')
    who = served(secrets=several, user=user(**GOOD))
    assert who.actor is not None  # verdicts on heals stay open
    assert "set issuer under [sign_in]" in refused()
    settings('reviewers = ["u1"]\n[sign_in]\nissuer = "https://id.test"')
    identity.may_certify_now()
    settings('reviewers = ["u1"]\n[sign_in]\nissuer = "https://other.test"')
    assert "only sign-ins by https://other.test may certify here" in refused()


def test_settings_that_ask_for_sign_in_stop_the_systems_user_until_the_server_was_started_again(served, settings):
    settings('reviewers = ["root"]\n[sign_in]\nissuer = "https://id.test"')
    who = served()
    assert who.actor is None
    assert "asks for sign-in and this server offers none; name a provider there and restart it." in who.why_not


# ---- the page's part, and the sidebar


def rights_page():
    from pages.parts import authority

    authority.show()


def test_the_page_says_who_may_do_what_and_which_reviewer_is_you(monkeypatch, settings):
    settings('reviewers = ["u1", "bo@x.test"]\napprovals_required = 2')
    claims = read_claims(GOOD)
    role = role_of(claims.actor, ServerSettings(reviewers=("u1",)))
    monkeypatch.setattr(identity, "who", lambda: identity.Who(claims.actor, role=role, claims=claims))
    monkeypatch.setattr(identity, "names_of_providers", lambda: ("default",))
    app = AppTest.from_function(rights_page, default_timeout=60).run()
    assert not app.exception
    assert "You: Ana (signed in by https://id.test, subject u1); you may give verdicts on heals and may certify a baseline" in texts(app)
    assert app.caption[2].value.replace("\\", "") == "Certify a baseline, or roll back"
    assert app.text[3].value == "2 reviewers: u1 and bo@x.test"
    (named,) = (frame.value for frame in app.dataframe)
    assert named[["entry", "you"]].to_numpy().tolist() == [["u1", "you"], ["bo@x.test", ""]]


def test_the_page_says_what_it_means_that_nothing_is_set(monkeypatch, settings):
    app = AppTest.from_function(rights_page, default_timeout=60).run()
    assert not app.exception
    assert "nobody signs in here and no server settings name reviewers" in texts(app)
    assert "No reviewers are named." in texts(app)

"""Who may decide: on loopback the system's user, elsewhere only who signed in."""

import time
from types import SimpleNamespace

import pytest
from streamlit.errors import StreamlitSecretNotFoundError

from pages.parts import identity
from seam_core.ledger import SignedIn, local_actor


class NoSecrets:
    def __contains__(self, key):
        raise StreamlitSecretNotFoundError("none")


@pytest.fixture
def served(monkeypatch):
    """Pretend to be served at an address, asked for by a host, with a provider or without."""

    def make(address="127.0.0.1", headers=None, secrets=None, user=None):
        fake = SimpleNamespace(
            secrets=secrets if secrets is not None else NoSecrets(),
            context=SimpleNamespace(headers=headers or {}),
            get_option=lambda name: {"server.address": address}[name],
            user=user,
        )
        monkeypatch.setattr(identity, "st", fake)
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


GOOD = {"iss": "https://id.test", "sub": "u1", "name": "Ana", "exp": 4_102_444_800}  # 2100; a suite may run for longer than a sign-in


def test_with_a_provider_it_is_whoever_signed_in_even_on_loopback(served):
    assert served(secrets={"auth": {}}, user=user(**GOOD)).actor == SignedIn(issuer="https://id.test", subject="u1", name="Ana")
    assert served(secrets={"auth": {}}, user=user()).why_not == identity.NOT_SIGNED_IN
    assert served("0.0.0.0", secrets={"auth": {}}, user=user(**GOOD)).actor is not None


@pytest.mark.parametrize("change", [{"exp": time.time() - 1}, {"exp": None}, {"exp": "soon"}])
def test_an_expired_sign_in_decides_nothing(served, change):
    who = served(secrets={"auth": {}}, user=user(**GOOD | change))
    assert (who.actor, who.why_not, who.may_sign_in) == (None, identity.EXPIRED, True)


@pytest.mark.parametrize("change", [{"iss": ""}, {"sub": None}])
def test_a_sign_in_that_says_nobody_decides_nothing(served, change):
    assert served(secrets={"auth": {}}, user=user(**GOOD | change)).actor is None


def test_a_name_is_the_mail_address_or_the_subject_where_there_is_none(served):
    assert served(secrets={"auth": {}}, user=user(**GOOD | {"name": "", "email": "a@b.test"})).actor.name == "a@b.test"
    assert served(secrets={"auth": {}}, user=user(**GOOD | {"name": ""})).actor.name == "u1"

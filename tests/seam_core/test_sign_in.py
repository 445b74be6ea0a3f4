"""[sign_in] of the server settings: what it may hold, where its secrets come from, and what is handed to Streamlit's login."""

import pytest

from seam_core.errors import SettingsError
from seam_core.settings import read_server_settings
from seam_core.sign_in import read_sign_in, streamlit_secrets

COOKIE = "0123456789abcdef" * 2
GOOD = {
    "issuer": "https://id.test",
    "client_id": "seam",
    "client_secret": "s3cret",
    "cookie_secret": COOKIE,
    "redirect_uri": "https://seam.test/oauth2callback",
}


def toml(table):
    return "[sign_in]\n" + "".join(f'{key} = "{value}"\n' for key, value in table.items())


@pytest.fixture
def handed(tmp_path):
    """What Streamlit gets from a server settings file with this table."""

    def read(table, environ=None):
        path = tmp_path / "server.toml"
        path.write_text(toml(table), encoding="utf-8")
        found = read_server_settings({"SEAM_SETTINGS": str(path)})
        return streamlit_secrets(found.sign_in, folder=tmp_path, environ=environ or {})

    return read


def test_streamlit_gets_a_provider_with_its_defaults(handed):
    assert handed(GOOD) == {
        "client_id": "seam",
        "client_secret": "s3cret",
        "server_metadata_url": "https://id.test/.well-known/openid-configuration",
        "redirect_uri": "https://seam.test/oauth2callback",
        "cookie_secret": COOKIE,
        "client_kwargs": {"scope": "openid email profile", "prompt": "select_account"},
    }


def test_what_is_set_wins_over_the_defaults(handed):
    found = handed(GOOD | {"server_metadata_url": "https://id.test/meta", "scope": "openid groups", "prompt": "login"})
    assert (found["server_metadata_url"], found["client_kwargs"]) == ("https://id.test/meta", {"scope": "openid groups", "prompt": "login"})


def test_secrets_come_from_files_beside_the_settings_or_from_the_environment(handed, tmp_path):
    (tmp_path / "client").write_text("from a file\n", encoding="utf-8")
    table = {key: value for key, value in GOOD.items() if "secret" not in key}
    table |= {"client_secret_file": "client", "cookie_secret_env": "SEAM_COOKIE"}
    found = handed(table, {"SEAM_COOKIE": COOKIE})
    assert (found["client_secret"], found["cookie_secret"]) == ("from a file", COOKIE)


def test_an_issuer_alone_leaves_the_provider_to_streamlits_secrets(handed):
    assert handed({"issuer": "https://id.test"}) is None
    assert streamlit_secrets(None, folder=None) is None


def without(*keys, **more):
    return {key: value for key, value in GOOD.items() if key not in keys} | more


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ({}, "is empty; name a provider, or remove the heading"),
        (without(client_idd="x"), "unknown key client_idd; did you mean client_id?"),
        (without(reviewers="ana"), "unknown key reviewers"),
        (without(client_id=""), "client_id must be text, and not empty"),
        (without(client_id=5), "client_id must be text"),
        (without(scope=["openid"]), "scope must be text"),
        (without("client_id"), "client_id is missing"),
        (without("redirect_uri"), "redirect_uri is missing"),
        (without("client_secret"), "client_secret is missing; write it, or name client_secret_file or client_secret_env"),
        (without("cookie_secret"), "cookie_secret is missing"),
        (without("issuer"), "server_metadata_url is missing, and so is issuer"),
        (without(client_secret_env="X"), "client_secret and client_secret_env say the same thing; keep one"),
        (without(redirect_uri="https://seam.test/"), "redirect_uri must end with /oauth2callback"),
        (without(redirect_uri="http://seam.test/oauth2callback"), "redirect_uri must be an https address"),
        (without(issuer="http://id.test"), "issuer must be an https address"),
        (without(issuer="id.test"), "issuer must be an https address"),
        (without(issuer="https://"), "issuer must be an https address"),
        (without(issuer="https://[id.test"), "issuer must be an https address"),
        (without(issuer="https://id.test "), "issuer must be an https address"),
        (without(server_metadata_url="ftp://id.test"), "server_metadata_url must be an https address"),
        (without(scope="email profile"), "scope must hold openid"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_table_is_one_sentence_that_names_the_key(table, complaint):
    with pytest.raises(SettingsError) as refused:
        read_sign_in(table, where="server.toml: [sign_in]")
    assert str(refused.value).startswith("server.toml: [sign_in]")
    assert complaint in str(refused.value)


@pytest.mark.parametrize("host", ["localhost:8501", "127.0.0.1", "[::1]:8501"])
def test_this_machine_may_do_without_https(host):
    assert read_sign_in(GOOD | {"redirect_uri": f"http://{host}/oauth2callback", "issuer": f"http://{host}"}, where="x")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"client_secret_file": "nowhere"}, r"client_secret_file: .*nowhere cannot be read \(No such file"),
        ({"client_secret_file": "."}, "cannot be read"),
        ({"client_secret_file": "empty"}, "holds no secret"),
        ({"client_secret_file": "binary"}, "is not text"),
        ({"client_secret_file": "long"}, "too long a text for a secret"),
        ({"client_secret_env": "NOWHERE"}, "client_secret_env: the variable NOWHERE holds no secret"),
        ({"client_secret": "s3cret", "cookie_secret": "short"}, "cookie_secret has 5 characters; make it 32 or more"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_secret_that_is_not_there_is_one_sentence_without_any_of_it(handed, tmp_path, change, complaint):
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "long").write_text("x" * 20_000)
    with pytest.raises(SettingsError, match=complaint) as refused:
        handed(without("client_secret") | change)
    assert "s3cret" not in str(refused.value)
    assert "xxx" not in str(refused.value)


def test_no_secret_is_ever_printed():
    assert not {"s3cret", COOKIE} & set(repr(read_sign_in(GOOD, where="x")).replace("'", " ").split())


def test_reading_the_settings_opens_no_file_of_secrets(tmp_path):
    """The command line needs none of them, and may not be allowed to read them."""
    path = tmp_path / "server.toml"
    path.write_text(toml(without("client_secret", client_secret_file="nowhere")), encoding="utf-8")
    assert read_server_settings({"SEAM_SETTINGS": str(path)}).sign_in.client_id == "seam"

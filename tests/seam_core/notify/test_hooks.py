"""The hooks of the server settings: what may stand there, and that no secret of theirs is ever said."""

import pytest

from seam_core.errors import SettingsError
from seam_core.notify.hooks import EVENTS, SCHEMES, Hook, Hooks, read_hooks
from seam_core.settings import ServerSettings, read_server_settings, resolve

SECRET = "TIiajkdnlazkcOXrIdevi7FQ"


def read(tmp_path, text):
    file = tmp_path / "server.toml"
    file.write_text(text)
    return read_server_settings({"SEAM_SETTINGS": str(file)})


def test_urls_and_commands_are_read_with_their_names(tmp_path):
    server = read(
        tmp_path,
        f'public_url = "https://seam.example.org/"\n[hooks]\nevents = ["gate", "gate", "decision"]\n[hooks.urls]\nteam = "Slack://a/b/{SECRET}"\n'
        '[hooks.commands]\npager = ["/usr/bin/page", "--title", "{title}"]\n',
    )
    assert server.hooks == Hooks(
        (Hook("team", url=f"slack://a/b/{SECRET}"), Hook("pager", command=("/usr/bin/page", "--title", "{title}"))), ("gate", "decision")
    )
    assert server.public_url == "https://seam.example.org"
    assert [hook.label for hook in server.hooks.all] == ["team (slack)", "pager (command page)"]


def test_without_a_table_nobody_is_told_and_all_events_are_meant(tmp_path):
    assert not read(tmp_path, "reviewers = []\n").hooks
    assert Hooks().events == tuple(EVENTS) == ("recertify", "gate", "withheld", "decision", "ledger")
    assert not Hooks((Hook("team", url="json://x"),), events=())


def test_no_url_and_no_argument_is_printed_with_the_settings():
    hooks = Hooks((Hook("team", url=f"slack://{SECRET}"), Hook("pager", command=("/bin/page", SECRET))))
    assert SECRET not in repr(ServerSettings(hooks=hooks))
    assert SECRET not in repr(hooks) + str(hooks) + "".join(hook.label for hook in hooks.all)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("url = 'x'", "[hooks]: unknown key url; did you mean urls?"),
        ("urls = ['slack://a']", "urls must be a table, with a name for each hook"),
        ("events = ['gates']", "events: unknown event gates; did you mean gate?"),
        ("events = 'gate'", "events must be a list of texts"),
        ("urls = { team = 'nowhere' }", "team must be a URL"),
        ("urls = { team = 5 }", "team must be a URL"),
        (f"urls = {{ team = 'dbus://{SECRET}' }}", "dbus is not on the list of schemes"),
        (f"urls = {{ team = 'syslog://{SECRET}' }}", "syslog is not on the list of schemes"),
        (f"urls = {{ team = '{SECRET}{SECRET}://x' }}", "this kind of URL is not on the list"),
        ("urls = { 'a\\u0007' = 'json://x' }", "'a\\\\u0007' is no name"),
        ("schemes = ['syslog://']", "'syslog://' is none"),
        ("commands = { pager = '/bin/page' }", "commands: pager must be a list of texts"),
        ("commands = { pager = [] }", "begins with the whole path of a program"),
        ("commands = { pager = ['page'] }", "begins with the whole path of a program"),
        ("commands = { pager = ['/bin/page', '{titel}'] }", "unknown place titel; did you mean title?"),
        ("urls = { a = 'json://x' }\ncommands = { a = ['/bin/page'] }", "a is the name of a URL and of a command"),
    ],
)
def test_what_cannot_be_used_is_said_with_the_key_and_no_secret(tmp_path, table, said):
    with pytest.raises(SettingsError) as refused:
        read(tmp_path, f"[hooks]\n{table}\n")
    assert said in str(refused.value)
    assert str(tmp_path / "server.toml") in str(refused.value)
    assert SECRET.lower() not in str(refused.value).lower()


@pytest.mark.parametrize(
    "url", ["seam.example.org", "ftp://x", "https://", "https://x/?a=1", "https://x/#a", "https://u@x", "https://x:port", "https://x y", 5]
)
def test_a_public_url_is_the_address_of_the_dashboard_and_nothing_else(tmp_path, url):
    with pytest.raises(SettingsError, match="public_url must be like"):
        read(tmp_path, f"public_url = {url!r}\n")


def test_the_list_of_schemes_can_be_made_longer(tmp_path):
    server = read(tmp_path, "[hooks]\nschemes = ['syslog']\nurls = { log = 'syslog://' }\n")
    assert server.hooks.all[0].label == "log (syslog)"


def test_braces_of_another_language_are_left_alone():
    table = {"commands": {"post": ["/usr/bin/curl", "-d", '{"text": 1}', "{}"]}}
    assert read_hooks(table, where="x").all[0].command[2:] == ('{"text": 1}', "{}")


def test_every_scheme_on_the_list_is_one_that_the_library_knows():
    from apprise.manager_plugins import NotificationManager

    assert set(SCHEMES) <= set(NotificationManager().schemas())


@pytest.mark.parametrize(
    "text", ["[hooks]\nevents = []\n", "public_url = 'https://evil.example'\n", "[hooks.urls]\nmine = 'json://evil.example'\n"]
)
def test_a_workspace_can_name_no_hook(tmp_path, text):
    file = tmp_path / "seam.toml"
    file.write_text(text)
    with pytest.raises(SettingsError, match="belongs to the server settings"):
        resolve(file)

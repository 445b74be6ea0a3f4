"""Surface runs and the outputs they put on record."""

import pytest

from seam_core.views.case_runs import outputs, read_output, surface_runs
from tests.seam_core.workspaces import audited, heal, run, write
from tests.seam_core.workspaces import cases as surface


@pytest.mark.parametrize(
    ("logged", "kind", "host"),
    [
        ("it deleted the folder", "text", ""),
        ("https://traces.example/r/1?a=b#c", "link", "traces.example"),
        ("http://10.0.0.1:8080/x", "link", "10.0.0.1:8080"),
        ("see https://traces.example", "text", ""),
        ("javascript:alert(1)", "text", ""),
        ("https://good.example@evil.test/", "text", ""),
        ("https://", "text", ""),
        ("https://exämple.test", "text", ""),
        ("https://evil.test/a b", "text", ""),
        ("https://evil.test:99999/", "text", ""),
        ("ftp://evil.test/", "text", ""),
        ({"got": 1}, "text", ""),
        (None, "none", ""),
        ("", "none", ""),
    ],
)
def test_an_output_is_a_link_only_when_it_is_one_plain_address(logged, kind, host):
    found = read_output(logged)
    assert (found.kind, found.host) == (kind, host)


def test_a_long_output_is_cut_at_4_kb_between_characters():
    found = read_output("ä" * 3000)
    assert found.is_cut
    assert found.text == "ä" * 2048


def test_outputs_come_from_the_line_of_the_run(tmp_path):
    runs = [
        run("r1", "nightly", 0.1, {"c0": True, "c1": True}) | {"evidence": {"c0": "fine", "c1": "https://traces.example/1"}},
        run("r2", "nightly", 0.2, {"c0": False}) | {"evidence": ["not", "a", "map"]},
        run("r3", "nightly", 0.3, {"c0": False}),
    ]
    with audited(write(tmp_path, heal_events=[heal(1)], suite_runs=runs, surface=surface(2))) as found:
        told = outputs(found, ("r1", "r2", "r3", "nope"), "c0")
        assert {run_id: (output.kind, output.text) for run_id, output in told.items()} == {
            "r1": ("text", "fine"), "r2": ("none", ""), "r3": ("none", "")
        }  # fmt: skip
        assert outputs(found, ("r1",), "c1")["r1"].host == "traces.example"
        assert [one.run_id for one in surface_runs(found).runs] == ["r3", "r2", "r1"]
        assert surface_runs(found).runs[0].words == "2026-06-01 19:12 · nightly · 1 case · r3"

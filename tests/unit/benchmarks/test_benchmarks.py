from __future__ import annotations

import importlib
import json
import math
import os
import subprocess
import sys
from itertools import islice, pairwise
from pathlib import Path

import pytest

SIZES = (200, 400)
OF_DATA = "recall.locomo"


@pytest.fixture
def room(root, monkeypatch):
    """Import a module of the benchmarks, which are programs beside the package."""
    monkeypatch.syspath_prepend(str(root))
    return lambda name: importlib.import_module(f"benchmarks.{name}")


def run_program(root, *arguments, shared=None):
    environ = {**os.environ, "PYTHONPATH": str(root / "src")}
    if shared is not None:
        environ["LCM_SHARED"] = str(shared)
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", "--seconds", "0.01", "--turns", "40", *arguments],
        cwd=root,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The whole program, small, on its own corpus."""
    root = Path(__file__).resolve().parents[3]
    folder = tmp_path_factory.mktemp("bench")
    file = folder / "report.json"
    sizes = ",".join(map(str, SIZES))
    done = run_program(root, "--sizes", sizes, "--json", str(file), shared=folder)
    assert done.returncode == 0, done.stderr
    return done, json.loads(file.read_text())


def test_every_figure_of_the_reference_is_measured_and_finite(whole, root):
    done, report = whole
    reference = json.loads((root / "benchmarks" / "reference.json").read_text())["figures"]
    found = {row["figure"]["name"]: row["figure"] for row in report["rows"]}
    assert set(found) == set(reference)
    for row in report["rows"]:
        figure = row["figure"]
        if figure["name"] == OF_DATA:
            continue
        assert figure["wall"] is not None, (figure, done.stderr)
        assert math.isfinite(figure["wall"]), figure
        assert figure["wall"] > 0, figure
        assert figure["cpu"] is None or figure["cpu"] > 0, figure


def test_absent_data_is_named_and_its_goal_not_claimed(whole):
    _, report = whole
    (row,) = [row for row in report["rows"] if row["figure"]["name"] == OF_DATA]
    assert row["figure"]["wall"] is None
    assert row["figure"]["note"].startswith("skipped")
    assert row["verdict"] == "not measured"


def test_the_report_names_the_corpus_and_counts_what_is_missed(whole):
    done, report = whole
    assert report["corpus"] == "benchmarks/synthetic.py"
    judged = [row for row in report["rows"] if row["verdict"] is not None]
    met = [row for row in judged if row["verdict"] == "ok"]
    assert f"{len(met)} of {len(judged)} goals are met" in done.stdout
    assert done.stdout.count("  missed: ") == len(judged) - len(met)


def test_the_assembled_context_has_200_items_at_every_size(whole):
    _, report = whole
    notes = [r["figure"]["note"] for r in report["rows"] if r["figure"]["name"] == "assemble.ready"]
    assert len(notes) == len(SIZES)
    for note in notes:
        assert sum(int(word) for word in note.split() if word.isdigit()) == 200, note


def test_the_searches_find_what_the_corpus_holds(whole):
    _, report = whole
    figures = [r["figure"] for r in report["rows"] if r["figure"]["size"] == SIZES[0]]
    notes = {figure["name"]: figure["note"] for figure in figures}
    assert notes["grep.rare"].startswith("1 hits")
    assert notes["regex.selective"].startswith("1 hits")
    assert notes["regex.absent"].startswith("0 hits")
    assert not notes["grep.relevance"].startswith("0 hits")
    assert not notes["cjk.one"].startswith("0 hits")


def test_only_the_figures_asked_for_are_measured(root, tmp_path):
    file = tmp_path / "report.json"
    done = run_program(root, "--sizes", "200", "--only", "cjk,bytes.message", "--json", str(file), shared=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    names = [row["figure"]["name"] for row in json.loads(file.read_text())["rows"]]
    assert names == ["cjk.one", "cjk.two", "bytes.message"]


def test_an_unknown_figure_is_refused(root):
    done = run_program(root, "--only", "nothing")
    assert done.returncode == 2
    assert "no figure 'nothing'" in done.stderr


def test_a_figure_that_fails_is_shown_as_failed_and_the_others_go_on(room, monkeypatch):
    figures, plan, report = room("figures"), room("plan"), room("report")

    def broken(run, size):
        yield figures.Figure("describe", size, 2.0, 1.0)
        raise RuntimeError("no disk")

    def fine(run, size):
        yield figures.Figure("cjk.one", size, 0.5, 0.4)

    monkeypatch.setattr(
        plan,
        "_plan",
        lambda run: [(["describe", "expand"], broken, [1]), (["cjk.one"], fine, [1])],
    )
    run = figures.Run(None, (1,), 0.0, 1)
    found = plan.measure(run, [], lambda text: None)
    assert [figure.name for figure in found] == ["describe", "expand", "cjk.one"]
    assert (found[0].cpu, found[0].note) == (1.0, "")
    assert found[1].cpu is None
    assert found[1].note == "failed: no disk"
    rows = report.rows(found, report.load_reference())
    assert {row.figure.name: row.verdict for row in rows} == {
        "describe": None,
        "expand": None,
        "cjk.one": "ok",
    }


@pytest.mark.parametrize(
    ("name", "wall", "cpu", "verdict", "wall_verdict"),
    [
        ("turn.uncompacted.median", 0.9, 0.8, "ok", "ok"),
        ("turn.uncompacted.median", 1.2, 0.8, "ok", "over"),
        ("turn.uncompacted.median", 1.2, 1.1, "over", "over"),
        ("turn.uncompacted.median", 1.0, 1.0, "ok", "ok"),
        ("import.stored", 8_999, 9_000, "ok", "under"),
        ("import.stored", 8_999, 8_999, "under", "under"),
        ("bytes.message", 2_701, None, "over", "over"),
        ("describe", 5.0, 5.0, None, None),
    ],
)
def test_a_figure_is_judged_by_cpu_time_where_there_is_one(
    room, name, wall, cpu, verdict, wall_verdict
):
    figures, report = room("figures"), room("report")
    figure = figures.Figure(name, 1_000, wall, cpu)
    (row,) = report.rows([figure], report.load_reference())
    assert (row.verdict, row.wall_verdict) == (verdict, wall_verdict)


@pytest.mark.parametrize(("is_exact", "goal"), [(True, 25), (False, 12)])
def test_an_exact_answer_by_relevance_may_cost_more(room, is_exact, goal):
    figures, report = room("figures"), room("report")
    figure = figures.Figure("grep.relevance", 1_000, 20.0, 20.0, is_exact=is_exact)
    (row,) = report.rows([figure], report.load_reference())
    assert row.goal == goal
    assert row.verdict == ("ok" if is_exact else "over")


def test_growth_is_the_largest_size_over_the_smallest(room, monkeypatch):
    figures, plan = room("figures"), room("plan")

    def turns(run, size):
        yield figures.Figure("turn.compacted.median", size, size / 100, size / 200)

    monkeypatch.setattr(plan, "_plan", lambda run: [(["turn.compacted.median"], turns, run.sizes)])
    run = figures.Run(None, (100, 300, 400), 0.0, 1)
    *_, growth = plan.measure(run, [], lambda text: None)
    assert (growth.name, growth.wall, growth.cpu) == ("flat.turn.compacted", 4.0, 4.0)


def test_quantiles_are_of_wall_and_cpu_each(room):
    measure = room("measure")
    spans = [measure.Spent(float(i), float(100 - i)) for i in range(100)]
    assert measure.quantile(spans, 0.5) == measure.Spent(49.5, 50.5)
    assert measure.quantile(spans, 0.99) == measure.Spent(99.0, 100.0)


def test_a_process_that_fails_is_an_error_with_what_it_said(room):
    measure = room("measure")
    with pytest.raises(RuntimeError, match="it broke"):
        measure.answer(["-c", "raise SystemExit('it broke')"])


def test_the_own_corpus_is_the_same_each_time_and_a_prefix_of_a_larger_one(room):
    synthetic = room("synthetic")
    small, large = list(synthetic.messages(300, 42)), list(synthetic.messages(600, 42))
    assert small == large[:300]
    assert small != list(synthetic.messages(300, 43))
    texts = [json.dumps(message) for message in large]
    assert sum("zephyrquartz" in text for text in texts) in (1, 2)
    assert 60 < sum("database" in text for text in texts) < 300


def test_every_tool_call_of_the_own_corpus_is_answered_next(room):
    synthetic = room("synthetic")
    turns = list(islice(synthetic.Speaker(1).turns(), 50))
    for turn in turns:
        assert turn[0]["role"] == "user"
        for call, result in pairwise(turn):
            ids = [b["id"] for b in call["content"] if b["type"] == "toolCall"]
            if ids:
                assert [result.get("toolCallId")] == ids

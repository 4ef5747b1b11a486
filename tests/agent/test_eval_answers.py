"""``frontdesk eval answers``: floors, result files, the page, and a model's own words."""

import asyncio
import json
import threading
from argparse import Namespace
from pathlib import Path

import pytest

from agent.answers_page import page
from agent.answers_report import lines
from agent.commands import eval_answers
from agent.commands.eval_generated import generate_all, generated_json
from agent.generation import Generated, Outcome
from agent.settings import SAMPLE_KB
from rag import questions
from rag.evaluate import FloorsFrom, answer_all
from rag.types import Check, Draft
from tests.agent.fake_chat import DROP, FakeChat, streamed

DOCUMENTS = {
    "hours": "The shop opens at 7:30 a.m. on Monday.\n\nOn Sunday the shop is closed.\n",
    "fees": "A helmet for a child costs $35.\n",
}
OPENS = "when does the shop open on monday"
ROWS = [
    (OPENS, ["kb-hours#1"], ["7:30 a.m."]),
    ("is the shop closed on sunday", ["kb-hours#2"], ["open"]),  # a wrong label
    ("how much is a helmet for a child", ["kb-fees#1"], ["$35"]),
    ("who is the president of france", [], []),
]


@pytest.fixture
def shop(tmp_path):
    """A knowledge base of three passages with a question for each, and one for none."""
    folder = tmp_path / "shop"
    folder.mkdir()
    for name, text in DOCUMENTS.items():
        (folder / f"kb-{name}.md").write_text(text, "utf-8")
    lines = [
        {
            "id": f"q{n}", "text": text, "asr": f"um {text}", "context": None, "kind": "core",
            "relevant": relevant, "answerable": bool(facts), "facts": facts,
        }
        for n, (text, relevant, facts) in enumerate(ROWS)
    ]  # fmt: skip
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "questions.jsonl").write_text(text, "utf-8")
    return folder


@pytest.fixture
def saved(monkeypatch, tmp_path):
    """What would be written to bench/results, by name."""
    written = {}
    monkeypatch.setattr("bench.results.write_result", written.__setitem__)
    return written


def test_too_few_questions_for_folds_are_judged_by_the_floor_there_is(command, shop, saved):
    code, out, err = command("eval", "answers", "--kb", shop, "--json")
    found = json.loads(out)
    assert code == 1  # a core question is wrong
    assert err.startswith("frontdesk eval: the floor is the default one, not measured on these")
    assert "too few" in err
    assert (found["n"], found["right"], found["wrong_fact"], found["floors"]) == (4, 3, 1, "index")
    assert [row["id"] for row in found["wrong"]] == ["q1"]
    assert list(saved) == ["answers-shop"]
    code, out, err = command("eval", "answers", "--kb", shop, "--typed", "--floors", "default")
    assert err == ""
    assert list(saved) == ["answers-shop", "answers-shop-typed"]
    code, _, err = command("eval", "answers", "--kb", shop, "--floors", "folds")
    assert code == 2
    assert "too few" in err


@pytest.mark.parametrize(
    ("kb", "options", "name"),
    [
        (SAMPLE_KB, {}, "answers"),
        (SAMPLE_KB, {"floors": "folds", "typed": True}, "answers-typed"),
        (SAMPLE_KB, {"floors": "default"}, "answers-default"),
        (SAMPLE_KB, {"generated": True, "typed": True}, "answers-generated-typed"),
        (Path("kb/garage"), {"floors": "default"}, "answers-garage"),
        (Path("my shop"), {"floors": "default", "typed": True}, "answers-my-shop-typed"),
    ],
)
def test_no_result_takes_the_name_of_another(kb, options, name):
    args = Namespace(**{"floors": None, "typed": False, "generated": False, **options})
    assert eval_answers.file_name(args, kb) == name


def test_what_is_printed(command, shop):
    _, out, _ = command("eval", "answers", "--kb", shop, "--no-save", "--floors", "default")
    lines = out.splitlines()
    assert lines[0] == "shop, as heard: 4 asked"
    table = [line.split()[-4:] for line in lines if line.startswith(("to answer", "to refuse"))]
    assert table == [["2", "1", "0", "0"], ["0", "0", "1", "0"]]
    assert any(line.startswith("wrong fact") and "1 of 3 answered" in line for line in lines)
    assert "  wrong fact: q1 asr 'um is the shop closed on sunday'" in lines
    assert "      said 'On Sunday the shop is closed.'" in lines
    assert "      [kb-hours#2] On Sunday the shop is closed." in lines
    assert any(line.endswith("every check passed; right: open of kb-hours#2") for line in lines)
    _, out, _ = command(
        "eval", "answers", "--kb", shop, "--no-save", "--floors", "default", "--wrong", 0
    )
    assert "said '" not in out
    assert out.splitlines()[-1] == "1 more (--wrong N, --html FILE, --json)"


def test_the_page_holds_every_wrong_one_and_escapes_it(command, shop, tmp_path):
    path = shop / "questions.jsonl"
    rows = path.read_text("utf-8").replace("is the shop closed", "is <b>the shop closed")
    path.write_text(rows, "utf-8")
    file = tmp_path / "page.html"
    command("eval", "answers", "--kb", shop, "--no-save", "--floors", "default", "--html", file)
    html = file.read_text("utf-8")
    assert "<dd>is &lt;b&gt;the shop closed on sunday</dd>" in html
    assert "<strong>On Sunday the shop is closed.</strong>" in html
    assert "<td class=bad>1</td>" in html
    assert "src=" not in html
    assert "href=" not in html


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--wrong", "-1"], "--wrong takes a number from 0 up"),
        (["--at-once", "0"], "--at-once one from 1 up"),
        (["--generated"], "--generated needs a model: set base_url and model under [generation]"),
    ],
)
def test_wrong_usage_is_one_line(command, shop, wrong, says):
    code, out, err = command("eval", "answers", "--kb", shop, "--no-save", *wrong)
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1


def test_the_help_says_how_to_read_it(command):
    code, out, _ = command("eval", "answers", "--help")
    assert code == 0
    assert eval_answers.__doc__.strip() in out


# --- a model's own words


@pytest.fixture
def chat():
    """A fake server in a thread of its own: the command runs its own event loop."""
    loop, ready, fakes = asyncio.new_event_loop(), threading.Event(), []

    async def serve(over):
        async with FakeChat() as fake:
            fakes.append(fake)
            ready.set()
            await over.wait()

    over = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(over),))
    thread.start()
    ready.wait()
    yield fakes[0]
    loop.call_soon_threadsafe(over.set)
    thread.join()
    loop.close()


def reply(answer, *citations):
    return streamed(json.dumps({"answer": answer, "citations": citations, "confidence": 1}))


def test_generated_answers_are_judged_on_the_same_verdicts(command, shop, saved, chat, monkeypatch):
    for key, value in (
        ("BASE_URL", chat.url), ("MODEL", "small"), ("FAST_SCORE", "2"),
        ("BUDGET_MS", "60000"), ("TIMEOUT_S", "60"),
    ):  # fmt: skip
        monkeypatch.setenv(f"FRONTDESK_GENERATION__{key}", value)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    chat.script = [
        reply("The shop opens at 7:30 a.m. on Monday.", "kb-hours#1"),
        [DROP],
        [DROP],
        reply("A helmet for a child costs $99.", "kb-fees#1"),
    ]
    _, out, _ = command(
        "eval", "answers", "--kb", shop, "--floors", "default", "--generated", "--json"
    )
    found = json.loads(out)
    assert list(saved) == ["answers-shop-generated"]
    generated = found["generated"]
    assert generated["outcomes"] == {
        "accepted": 1, "dropped": 1, "unsupported_figure": 1, "nothing_to_say": 1,
    }  # fmt: skip
    assert (generated["model"], generated["asked"], generated["requests"]) == ("small", 3, 4)
    assert (generated["accepted"]["n"], generated["accepted"]["right"]) == (1, 1)
    assert generated["right"] == found["right"] == 3  # the quoted answers stand in
    assert generated["full_ms"]["p50_ms"] >= 0
    shown = lines("shop", found, 0)
    (words,) = [line for line in shown if line.startswith("in the words of small: 3 asked; ")]
    assert "unsupported_figure 1" in words
    assert any(line.startswith("accepted 1: right 1, wrong fact 0") for line in shown)
    assert "<p>3 asked, 1 accepted: right 1, wrong fact 0" in page("shop", found)


def test_an_accepted_answer_may_still_be_wrong(clinic):
    rows = [
        row
        for row in questions.read(SAMPLE_KB / questions.QUESTIONS_FILE)
        if row.id in ("q001", "q003")
    ]
    answers = answer_all(
        clinic, questions.asked(rows, [questions.TYPED]), floors=FloorsFrom.DEFAULT
    )
    passed = (Check("figures_in_one_sentence", True),)
    say = Draft("We open in the morning. [kb-hours#2]", ("kb-hours#2",))
    found = generated_json(
        answers, [Generated(Outcome.ACCEPTED, "", say, passed), Generated(Outcome.BUDGET, "over")]
    )
    assert (found["accepted"]["n"], found["accepted"]["passed_checks_yet_wrong"]) == (1, 1)
    assert found["accepted"]["wrong"][0]["say"] == "We open in the morning."
    assert found["accepted"]["wrong"][0]["answered_by"] == "generated"
    assert (found["n"], found["right"], found["wrong_fact"]) == (2, 1, 1)
    assert found["outcomes"] == {"accepted": 1, "budget": 1}


async def test_no_more_requests_at_a_time_than_wanted():
    class Slow:
        running = most = closed = 0

        async def generate(self, verdict):
            self.running += 1
            self.most = max(self.most, self.running)
            for _ in range(5):
                await asyncio.sleep(0)
            self.running -= 1
            return Generated(Outcome.BUDGET, str(verdict))

        async def close(self):
            self.closed += 1

    slow, seen = Slow(), []
    found = await generate_all(
        slow, [1, 2, 3, 4, 5], at_once=2, progress=lambda *done: seen.append(done)
    )
    assert [one.detail for one in found] == ["1", "2", "3", "4", "5"]
    assert (slow.most, slow.closed, seen[-1]) == (2, 1, (5, 5))

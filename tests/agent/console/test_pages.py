"""The console's pages in a real Chromium: why did it say that?"""

import pytest

from tests.agent.chromium import needs_chromium
from tests.agent.console.pages import READY, at_the_console, comes_to, log_in, press, tab_to, text
from tests.agent.console.stored import EVIL, PIZZA, SATURDAY, TEN, recorded, stored

pytestmark = [needs_chromium, pytest.mark.slow]


async def test_two_clicks_from_the_list_say_why(desk, clinic, tmp_path):
    async with desk() as served:
        name = await stored(served.records, clinic, TEN)
        events = served.records.store.events(name)
        verdicts = [event for event in events if event["event"] == "verdict"]
        async with at_the_console(served, tmp_path) as page:
            await page.click("#rows a.row")  # one
            await comes_to(page, f"/call/{name}")
            await page.click("#turn-2 .ask")  # two
            sheet = await text(page, "#why")
            quoted = await page.value("document.querySelector('#why mark').textContent")
            passage = await page.value(
                "[...document.querySelector('#why blockquote').childNodes].filter("
                "(one) => !one.classList?.contains('unseen'))"
                ".map((one) => one.textContent).join('')"
            )
            assert page.errors == []
    second = verdicts[1]
    cited = next(hit for hit in second["hits"] if hit["id"] == second["citations"][0])
    of_kb = next(one for one in clinic.kb.passages if one.id == cited["id"])
    for shown in (
        second["heard"],
        second["say"],
        second["query"]["text"],
        cited["id"],
        cited["sha256"],
        second["kb"],
        f"score {second['score']:.3f}",
        f"{second['floor']:.3f}",
        "turn 2 of 10",
    ):
        assert shown in sheet
    assert passage == of_kb.text
    assert quoted == second["say"]


async def test_a_page_shows_each_turn_from_heard_to_said(desk, clinic, tmp_path):
    async with desk() as served:
        name = await stored(served.records, clinic, (SATURDAY, "and what about sunday", PIZZA))
        async with at_the_console(served, tmp_path, f"/call/{name}") as page:
            cards = await page.value(
                "[...document.querySelectorAll('.turn')].map((card) => card.innerText)"
            )
            fills = await page.value(
                "[...document.querySelectorAll('.scale')].map((one) => "
                "[one.querySelector('.fill').style.width, one.querySelector('.floor').style.left]"
                ".map(parseFloat))"
            )
            assert page.errors == []
    steps = ["Heard", "Looked up", "Found", "Checks", "Said", "Time"]
    at = [cards[1].index(f"{step}\n") for step in steps]
    assert at == sorted(at)
    assert "what time do you guys open on sunday" in cards[1]
    assert "another day" in cards[1]
    assert "is below the floor" in cards[2]
    assert "Why no answer?" in cards[2]
    assert [score > floor for score, floor in fills] == [True, True, False]


async def test_what_a_caller_says_stays_text(desk, clinic, tmp_path):
    async with desk() as served:
        name = await stored(served.records, clinic, (EVIL,))
        async with at_the_console(served, tmp_path) as page:
            for path in ("/refusals", f"/call/{name}"):
                await page.open(served.url + path)
                await page.until(READY)
                assert "<script>" in await text(page, "main"), path
                assert (
                    await page.value("document.querySelectorAll('main img, main script').length")
                    == 0
                )
            await page.click(".ask")
            assert "<img src=x" in await text(page, "#why")
            assert await page.value("globalThis.ran === undefined")
            assert page.errors == []


async def test_all_of_it_with_the_keyboard_alone(desk, clinic, tmp_path):
    async with desk() as served:
        first = await stored(served.records, clinic, (SATURDAY,))
        await stored(served.records, clinic, (PIZZA,), call_id="CA2")
        async with at_the_console(served, tmp_path, "/") as page:
            await press(page, "Tab")
            assert await page.value("document.activeElement.className") == "skip"
            await tab_to(page, "a.row")
            await press(page, "ArrowDown")
            await press(page, "Enter")
            await comes_to(page, f"/call/{first}")
            await tab_to(page, ".ask")
            await press(page, "Enter")
            assert await page.value("document.querySelector('#why').open")
            assert await page.value("document.activeElement.id") == "why-title"
            await press(page, "Tab", 4)
            assert await page.value(
                "document.querySelector('#why').contains(document.activeElement)"
            )
            await press(page, "Escape")
            assert await page.value("document.activeElement.matches('.ask')")
            assert (
                await page.value("getComputedStyle(document.activeElement).outlineWidth") == "3px"
            )


async def test_an_answer_is_marked_wrong(desk, clinic, tmp_path):
    async with desk() as served:
        name = await stored(served.records, clinic, (SATURDAY,))
        async with at_the_console(served, tmp_path, f"/call/{name}") as page:
            await page.click("#turn-1 .mark summary")
            await page.click("#turn-1 input[value=wrong]")
            await page.value("document.querySelector('#turn-1 textarea').value = 'we open at nine'")
            await page.click("#turn-1 .marking button")
            await page.until("document.querySelector('#turn-1 [role=status]').textContent")
            assert "we open at nine" in await text(page, "#turn-1 .given")
            await page.open(f"{served.url}/?outcome=marked")
            await page.until(READY)
            assert "1 wrong" in await text(page, "#rows")
        (mark,) = served.records.store.marks(None, None)
    assert (mark.label, mark.note) == ("wrong", "we open at nine")


async def test_it_is_told_where_no_case_could_be_made_of_a_mark(desk, clinic, tmp_path):
    async with desk() as served:
        name = await stored(served.records, clinic, (SATURDAY,))
        (served.settings.records.folder / "cases").write_text("in the way", encoding="utf-8")
        async with at_the_console(served, tmp_path, f"/call/{name}") as page:
            await page.click("#turn-1 .mark summary")
            await page.click("#turn-1 input[value=wrong]")
            await page.click("#turn-1 .marking button")
            await page.until("document.querySelector('#turn-1 [role=status]').textContent")
            assert "no case was made" in await text(page, "#turn-1 [role=status]")


async def test_a_click_on_the_sound_plays_there(desk, clinic, tmp_path):
    async with desk() as served:
        name = await stored(served.records, clinic, (SATURDAY, PIZZA))
        recorded(served.settings.records.folder, name, seconds=8.0)
        async with at_the_console(served, tmp_path, f"/call/{name}") as page:
            await page.until("document.querySelectorAll('.wave path').length === 2")
            for down in (True, False):
                await page.mouse("#position", down)
            at = await page.until("!audio.paused && audio.currentTime")
            assert at == pytest.approx(4.0, abs=1.0)
            assert (
                40 < await page.value("parseFloat(document.getElementById('head').style.left)") < 70
            )
            await page.click("#play")
            await page.until("audio.paused")
            heights = await page.value(
                "[...document.querySelectorAll('.wave path')].map((one) => one.getBBox().height)"
            )
            assert min(heights) > 20  # each side has spoken
            assert page.errors == []


async def test_the_list_is_filtered_and_a_refusal_leads_to_its_turn(desk, clinic, tmp_path):
    async with desk() as served:
        await stored(served.records, clinic, (SATURDAY,))
        refused = await stored(served.records, clinic, (SATURDAY, PIZZA), call_id="CA2")
        async with at_the_console(served, tmp_path) as page:
            assert await text(page, "#status") == "1–2 of 2 calls"
            await page.value("document.getElementById('text').value = 'anchovies'")
            await page.click("#filters [type=submit]")
            await page.until("document.getElementById('status').textContent === '1–1 of 1 call'")
            assert "text=anchovies" in await page.value("location.search")
            await page.value("history.back()")
            await page.until("document.getElementById('status').textContent === '1–2 of 2 calls'")
            await page.open(f"{served.url}/refusals")
            await page.until(READY)
            await page.click("#rows a.row")
            await comes_to(page, f"/call/{refused}")
            assert await page.value("document.activeElement.id") == "turn-2"
            assert page.errors == []


async def test_the_login_says_what_is_wrong_and_keeps_no_token(desk, tmp_path):
    async with desk() as served, at_the_console(served, tmp_path) as page:
        assert served.token not in await page.value("document.documentElement.outerHTML")
        await page.click("#logout")
        await comes_to(page, "/login")
        await page.until("document.activeElement.id === 'token'")
        await page.value("document.getElementById('token').value = 'fdk_wrong'")
        await press(page, "Enter")
        await page.until("!document.getElementById('problem').hidden")
        assert "not the token" in await text(page, "#problem")
        for elsewhere in ("//evil.example", "/%09/evil.example", "/%5Cevil.example"):
            await log_in(page, served, next_page=elsewhere)
            await comes_to(page, "/")
            assert await page.value("location.origin") == served.url
        assert await page.value("location.hash") == ""

"""How the console's pages look and sound: small, dark, to a screen reader, and live."""

import dataclasses

import pytest

from tests.agent.chromium import needs_chromium
from tests.agent.console.pages import PALE, at_the_console, comes_to, go, nameless, text
from tests.agent.console.serving import console
from tests.agent.console.stored import EVIL, KNOWN, PIZZA, SATURDAY, recorded, stored, talk

pytestmark = [needs_chromium, pytest.mark.slow]

LONG = "and what about " + "anaesthesiologically" * 12
LINES = "[...document.querySelectorAll('.log li')].map((one) => one.innerText)"


async def test_every_page_is_read_on_a_small_screen_in_the_dark_and_aloud(desk, clinic, tmp_path):
    async with desk() as served:
        name = await stored(served.records, clinic, (SATURDAY, "and what about sunday", LONG))
        recorded(served.settings.records.folder, name, seconds=8.0)
        async with at_the_console(served, tmp_path) as page:
            for path in ("/", "/live", "/refusals", "/reports", "/demand", f"/call/{name}"):
                for scheme in ("light", "dark"):
                    await page.look(400, 800, scheme)
                    await go(page, served, path)
                    wide = "document.documentElement.scrollWidth <= innerWidth"
                    assert await page.value(wide), (path, scheme)
                    assert await page.value(PALE) == [], (path, scheme)
                assert await nameless(page) == [], path
                marks = "[...document.querySelectorAll('h1, main, nav')].map((one) => one.tagName)"
                assert {"H1", "MAIN", "NAV"} <= set(await page.value(marks)), path
            await page.value(
                "document.querySelectorAll('details').forEach((one) => one.open = true)"
            )
            await page.click("#turn-3 .ask")
            assert await page.value(PALE) == []
            assert await nameless(page) == []
            assert await page.value("document.querySelector('#why').scrollWidth") <= 400
            dark = await page.value("getComputedStyle(document.body).backgroundColor")
            assert dark == "rgb(20, 24, 27)"
            assert page.errors == []


async def test_a_call_is_followed_as_it_is_spoken(desk, clinic, tmp_path):
    async with desk() as served, at_the_console(served, tmp_path, "/live") as page:
        await page.until("document.getElementById('status').textContent.startsWith('No call')")
        record = served.records.begin("CA1", **KNOWN)
        record.event("ready", wire="twilio", kb="x")
        record.passing("hearing", turn=1, heard="what do")
        await page.until("document.querySelector('.log .hearing')")
        assert await text(page, ".state") == "◐\nhearing"
        of_log = "(({ariaLive, tabIndex}) => [ariaLive, tabIndex])(document.querySelector('.log'))"
        assert await page.value(of_log) == ["polite", 0]
        assert await page.value("document.querySelector('.hearing').ariaHidden") == "true"
        talk(record, clinic, [SATURDAY, EVIL])
        await page.until("document.querySelector('.state').innerText.endsWith('ended')")
        lines = await page.value(LINES)
        shown = "\n".join(lines)
        assert f"Caller:\n{SATURDAY}" in shown
        assert "9 a.m." in shown
        assert "score 0." in shown
        assert EVIL in shown
        assert lines[-1] == "the call ended: caller hung up"
        assert not await page.value("document.querySelector('.log .hearing')")
        link = await page.value("document.querySelector('#calls a').getAttribute('href')")
        assert link == f"/call/{record.id}"
        assert await page.value("globalThis.ran === undefined")
        assert page.errors == []


async def test_a_passage_that_was_changed_since_says_so(settings, clinic, tmp_path):
    passages = [
        dataclasses.replace(one, text=f"{one.text} And more.", sha256="0" * 64)
        for one in clinic.kb.passages
    ]
    now = dataclasses.replace(clinic, kb=dataclasses.replace(clinic.kb, passages=passages))
    async with console(settings(console={"port": 0}), now) as served:
        name = await stored(served.records, clinic, (SATURDAY,))
        async with at_the_console(served, tmp_path, f"/call/{name}") as page:
            assert "The passage was changed since this call" in await text(page, "#turn-1")
            await page.click("#turn-1 .ask")
            assert "The passage was changed since this call" in await text(page, "#why .changed")
            assert "And more." in await text(page, "#why blockquote")


async def test_trouble_with_the_records_is_told(desk, tmp_path, monkeypatch):
    async with desk() as served:
        monkeypatch.setattr(type(served.records), "trouble", "the database is full")
        async with at_the_console(served, tmp_path) as page:
            await page.until("!document.getElementById('trouble').hidden")
            assert "the database is full" in await text(page, "#trouble")


async def test_reports_and_demand_lead_to_the_turns_they_count(desk, clinic, tmp_path):
    async with desk() as served:
        name = await stored(served.records, clinic, (SATURDAY, PIZZA))
        served.records.store.mark(name, 1, "wrong", "we open at nine", "console")
        async with at_the_console(served, tmp_path, "/reports") as page:
            shown = await text(page, "#report")
            for figure in ("questions answered\n1", "questions refused\n1", "marked wrong\n1"):
                assert figure in shown
            assert "we open at nine" in shown
            await page.click("#report a")
            await comes_to(page, f"/call/{name}")
            assert await page.value("location.hash") == "#turn-1"
            await go(page, served, "/demand")
            assert "1 answer to write" in await text(page, "#status")
            assert "is below the floor" in await text(page, ".clusters")
            await page.click(".wordings a")
            await comes_to(page, f"/call/{name}")
            assert await page.value("document.activeElement.id") == "turn-2"
            assert page.errors == []

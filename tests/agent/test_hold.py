"""A far end that puts the agent on hold hears nothing of it."""

from agent.session import STILL_THERE
from agent.turns import Action
from tests.agent.live import Phone, serving


async def test_nobody_on_hold_is_asked_whether_they_are_there(settings, call_engines):
    async with serving(settings(), call_engines) as server, Phone(server) as phone:
        await phone.start()
        await phone.greeted()
        (call,) = server.switchboard.calls
        await call.held(True)
        assert await call._no_media() is True, "hold music is not sent"
        await call._silence(Action.PROMPT)
        await call._silence(Action.GIVE_UP)
        await call.held(False)
        await call._silence(Action.PROMPT)
        await phone.send({"event": "stop", "stop": {}})
        events = await server.record()
    said = [event["say"] for event in events if event["event"] == "said"]
    assert said[1:] == [STILL_THERE.text]
    assert [e["event"] for e in events if "hold" in e["event"] or e["event"] == "held"] == [
        "held",
        "resumed_from_hold",
    ]
    assert events[-1]["reason"] == "caller hung up"

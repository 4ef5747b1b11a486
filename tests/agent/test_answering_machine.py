"""Who answered, as tables of what is heard and when; times are ms, the clock is the test's."""

import pytest

from agent.answering_machine import Action, AnsweringMachine, Beeped, Found
from agent.callee_policy import CalleePolicy
from agent.callee_words import Says, says
from agent.turns import AgentStarted, AgentStopped, Clock, Heard, SpeechStarted, SpeechStopped

POLICY = CalleePolicy()


class Call:
    """``says``, ``beeps``, ``speaks`` and ``until`` move the clock; ``done``: what, and when."""

    def __init__(self):
        self.machine, self.now, self.done = AnsweringMachine(POLICY), 0.0, []

    def step(self, event):
        done = self.machine.step(event, self.now)
        self.done += [(action, self.now) for action in done]

    def until(self, until):
        """Let time go by, the clock sent at every deadline."""
        while (due := self.machine.deadline_ms) is not None and due <= until:
            self.now = max(self.now, due)
            self.step(Clock())
        self.now = max(self.now, until)

    def says(self, text, ms):
        """``text`` is said; the pause is known 100 ms later, the words 150."""
        self.step(SpeechStarted())
        self.until(self.now + ms)
        end = self.now
        self.until(end + 100)
        self.step(SpeechStopped(100))
        self.until(end + 150)
        self.step(Heard(text))
        return end

    def beeps(self, ms=400, hz=1000, alone=True):
        self.until(self.now + ms)
        end = self.now
        self.until(end + 90)
        self.step(Beeped(hz, ms, end, alone))
        return end

    def speaks(self, ms):
        """The agent says what it was told to."""
        self.step(AgentStarted())
        self.until(self.now + ms)
        self.step(AgentStopped())

    @property
    def actions(self):
        return [action for action, _ in self.done]


@pytest.fixture
def call():
    return Call()


@pytest.mark.parametrize(
    ("text", "ms", "waits"),
    [
        ("Hello?", 500, POLICY.hello_ms),
        ("Good morning, Riverside Dental, how can I help you?", 3200, POLICY.hello_ms),
        ("She is not here right now, can I take a message?", 2800, POLICY.hello_ms),
        ("Hi, this is Karen.", 1200, POLICY.short_ms),
        ("", 600, POLICY.short_ms),
        ("Good afternoon, law office of Smith and Jones.", 3000, POLICY.middle_ms),
        ("One moment while I walk over to the other phone and sit down", 6000, POLICY.long_ms),
        ("You've reached five five five, zero one four two.", 2500, POLICY.reached_ms),
    ],
)
def test_a_person_is_greeted_once_they_have_finished(call, text, ms, waits):
    end = call.says(text, ms)
    call.until(end + waits + 1)
    assert call.done == [(Action.GREET, end + waits)]
    assert call.machine.found is Found.PERSON
    assert not call.machine.holds


def test_nobody_is_talked_over_who_goes_on(call):
    call.says("Hello?", 500)
    call.until(call.now + 200)
    end = call.says("Hello, Riverside Dental, this is Amy.", 2000)
    call.until(end + POLICY.long_ms)
    assert call.done == [(Action.GREET, end + POLICY.short_ms)]


def test_who_picks_up_and_says_nothing_is_greeted(call):
    call.until(POLICY.nobody_ms + 1)
    assert call.done == [(Action.GREET, POLICY.nobody_ms)]


def test_the_message_begins_after_the_beep_and_then_the_call_ends(call):
    call.says("Hi, this is Karen. Please leave a message after the tone.", 4000)
    call.until(call.now + 1500)
    assert call.done == []
    end = call.beeps()
    call.until(end + 1000)
    assert call.done == [(Action.LEAVE, end + POLICY.after_beep_ms)]
    assert call.machine.holds
    call.speaks(5000)
    assert call.actions == [Action.LEAVE, Action.HANG_UP]
    assert (call.machine.found, call.machine.why) == (Found.VOICEMAIL, "message left")


def test_a_beep_tells_a_voicemail_whose_words_were_not_understood(call):
    call.says("Love is on misted round", 3000)
    end = call.beeps(150)
    call.until(end + 500)
    assert call.done == [(Action.LEAVE, end + POLICY.after_beep_ms)]


def test_a_voicemail_that_does_not_beep_gets_the_message_late(call):
    end = call.says("I'm not available right now, please leave a message", 4000)
    call.until(end + POLICY.beep_ms + 1)
    assert call.done == [(Action.LEAVE, end + POLICY.beep_ms)]


def test_a_beep_during_the_message_begins_it_again(call):
    end = call.says("I'm not available right now, please leave a message", 4000)
    call.until(end + POLICY.beep_ms + 1)
    call.step(AgentStarted())
    end = call.beeps()
    call.until(end + 1000)
    assert call.actions == [Action.LEAVE, Action.STOP, Action.LEAVE]


def test_who_was_greeted_and_asks_for_a_message_is_a_voicemail(call):
    end = call.says("Hello?", 500)
    call.until(end + POLICY.hello_ms + 1)
    call.step(AgentStarted())
    call.says("You've reached my voicemail, leave a message", 2000)
    assert call.actions == [Action.GREET, Action.STOP]
    assert call.machine.holds
    end = call.beeps()
    call.until(end + 1000)
    assert call.actions == [Action.GREET, Action.STOP, Action.LEAVE]


def test_who_was_greeted_and_beeps_is_a_voicemail(call):
    end = call.says("This is Tom.", 900)
    call.until(end + POLICY.short_ms + 1)
    call.step(AgentStarted())
    end = call.beeps()
    call.until(end + 1000)
    assert call.actions == [Action.GREET, Action.STOP, Action.LEAVE]


def test_a_beep_in_a_conversation_is_none_of_ours(call):
    end = call.says("Hello?", 500)
    call.until(end + POLICY.hello_ms + 1)
    call.speaks(3000)
    call.says("Yes, what time do you open?", 2000)
    call.step(AgentStarted())  # the answer
    call.beeps()
    assert call.actions == [Action.GREET]
    assert not call.machine.watches


def test_a_person_who_speaks_over_the_message_gets_the_conversation(call):
    call.says("Leave a message after the tone", 2000)
    end = call.beeps()
    call.until(end + 500)
    call.step(AgentStarted())
    call.until(call.now + 2000)
    call.says("Hello, I am here", 1000)
    assert call.actions == [Action.LEAVE, Action.CONVERSE]
    assert call.machine.found is Found.PERSON


def test_the_voicemails_own_last_words_are_not_a_person(call):
    call.says("Leave a message after the tone", 2000)
    end = call.beeps()
    call.until(end + 500)
    call.step(Heard("after the beat I guess"))  # a text that comes late
    call.says("Please leave a message.", 900)
    assert call.actions == [Action.LEAVE]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The mailbox is full and cannot accept any messages. Goodbye.", Found.NO_LINE),
        ("The number you have dialed is not in service.", Found.NO_LINE),
        ("Thank you for calling. For sales, press one.", Found.MENU),
        ("Please stay on the line, your call will be answered.", Found.MENU),
    ],
)
def test_nothing_is_said_to_a_menu_or_a_full_mailbox(call, text, found):
    end = call.says(text, 4000)
    call.until(end + 5000)
    assert call.actions == [Action.HANG_UP]
    assert call.machine.found is found


def test_tones_before_any_word(call):
    call.beeps(500, hz=425)
    call.until(call.now + 500)
    call.beeps(500, hz=425)
    assert call.actions == [Action.HANG_UP]
    assert call.machine.why == "engaged"


def test_a_machine_with_nothing_but_its_beep_gets_the_message(call):
    end = call.beeps(800)
    call.until(end + POLICY.beep_ms + 1)
    assert call.done == [(Action.LEAVE, end + POLICY.beep_ms)]


def test_special_information_tones_are_no_beep(call):
    for hz, ms in ((985, 380), (1429, 276), (1777, 380)):
        call.beeps(ms, hz=hz, alone=False)
    assert call.actions == [Action.HANG_UP]
    assert call.machine.why == "not in service"


def test_a_fax_is_left_alone(call):
    call.beeps(2900, hz=2100)
    assert call.machine.why == "a fax or a modem"


def test_a_chime_before_the_greeting_is_not_the_beep(call):
    call.beeps(300)
    end = call.says("Good morning, Riverside Dental, how can I help you?", 3000)
    call.until(end + 2000)
    assert call.actions == [Action.GREET]


def test_a_beep_in_the_middle_of_a_greeting_is_not_the_one(call):
    call.says("Riverside Dental", 1200)
    call.beeps(200)
    call.step(SpeechStarted())
    call.until(call.now + 3000)
    assert Action.LEAVE not in call.actions


def test_a_person_in_a_noisy_street_is_greeted(call):
    """The VAD never falls silent; the words do."""
    call.step(SpeechStarted())
    call.until(1000)
    call.step(Heard("Hello", provisional=True))
    call.until(3000)
    call.step(Heard("Hello?", provisional=True))
    call.until(3000 + POLICY.wordless_ms + 1)
    assert call.done == [(Action.GREET, 3000 + POLICY.wordless_ms)]


@pytest.mark.parametrize("alone", [True, False])
def test_a_vowel_taken_for_a_tone_ends_nobodys_greeting(call, alone):
    call.step(SpeechStarted())
    call.until(800)
    call.step(Beeped(400, 130, 700, alone))
    call.until(4000)
    assert call.done == []
    call.step(SpeechStopped(100))
    call.step(Heard("Good morning, Riverside Dental, how can I help you?"))
    call.until(4000 + POLICY.hello_ms)
    assert call.actions == [Action.GREET]


def test_a_beep_right_behind_the_words_is_the_one(call):
    """The VAD hears no gap between the two."""
    call.step(SpeechStarted())
    call.until(6000)
    call.step(Beeped(1000, 400, 5900))
    call.step(SpeechStopped(100))
    call.until(7000)
    assert call.done == [(Action.LEAVE, 5900 + POLICY.after_beep_ms)]


def test_the_end_of_a_greeting_that_was_cut_does_not_end_the_message(call):
    end = call.says("This is Tom.", 900)
    call.until(end + POLICY.short_ms + 1)
    call.step(AgentStarted())
    end = call.beeps()
    call.until(end + 1000)
    assert call.actions[-1] is Action.LEAVE
    call.step(AgentStopped())  # of the greeting
    assert call.actions[-1] is Action.LEAVE
    call.speaks(4000)
    assert call.actions[-1] is Action.HANG_UP


def test_a_message_that_is_never_heard_does_not_hold_the_line(call):
    end = call.beeps(800)
    call.until(end + POLICY.beep_ms + POLICY.longest_ms + 1)
    assert call.actions == [Action.LEAVE, Action.HANG_UP]


def test_a_screening_service_is_told_who_calls_and_the_person_waited_for(call):
    call.says("Hi, say your name and why you're calling, and I'll see if they are there", 5000)
    call.until(call.now + 2000)
    assert call.actions == [Action.SAY_WHO]
    call.speaks(4000)
    call.until(call.now + 10_000)
    assert call.actions == [Action.SAY_WHO]  # it rings
    end = call.says("Hello?", 500)
    call.until(end + 1000)
    assert call.done[-1] == (Action.GREET, end + POLICY.hello_ms)


def test_a_greeting_without_end_is_given_up(call):
    call.step(SpeechStarted())
    for second in range(80):
        call.step(Heard(f"and {second} more", provisional=True))
        call.until(1000 * second)
    assert call.actions == [Action.HANG_UP]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Hello.", Says.HELLO),
        ("Yeah, who's this?", Says.HELLO),
        ("Hi, this is Karen.", Says.NOTHING),
        ("You've reached Riverside Dental, this is Amy, how can I help?", Says.OFFERS),
        ("He's out of the office, would you like to leave a message?", Says.OFFERS),
        ("Your call has been forwarded to an automatic voice message system.", Says.VOICEMAIL),
        ("I can't come to the phone right now", Says.VOICEMAIL),
        ("When you have finished recording, press one for more options", Says.RECORDS),
        ("The voice mailbox has not been set up yet", Says.DEAD),
        ("Our hours have changed, please call again", Says.REACHED),
        ("हैलो", Says.HELLO),
        ("कृपया बीप के बाद संदेश छोड़ें", Says.RECORDS),
        ("आप जिस नंबर पर कॉल कर रहे हैं वह स्विच ऑफ है", Says.DEAD),
        ("", Says.NOTHING),
    ],
)
def test_words_of_people_and_machines(text, kind):
    assert says(text) is kind

"""The everyday sentences of a call: hello, repeat that, louder, a person please, goodbye.

An utterance is one of them only if *all* of it is made of such phrases: "thanks, and what time
do you open" holds a question and goes on to be looked up. Several may stand together ("great,
thanks, bye"); the one with the most consequence wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from frontdesk import Spoken
from rag.distance import edits
from rag.rewrite import words as split_words
from rag.types import Reason

SAYINGS = {
    Reason.GOODBYE: "Thank you for calling. Goodbye.",
    Reason.PERSON: "Of course. Let me connect you to the front desk.",
    Reason.ARE_YOU_A_ROBOT: "I'm an automated assistant. I answer from our documents, and I can "
    "connect you to the front desk at any time.",
    Reason.REPEAT: "I haven't said anything yet. What would you like to know?",
    Reason.LOUDER: "Okay, I'll speak up.",
    Reason.SLOWER: "Okay, I'll slow down.",
    Reason.WAIT: "Sure, take your time.",
    Reason.THANKS: "You're welcome. Is there anything else?",
    Reason.GREETING: "Hello. How can I help you?",
    Reason.ACKNOWLEDGED: "",
}
"""What is said; the order is the order of consequence."""

_ASK = (
    r"(?:(?:can|could|would|will|may|might) (?:you|i|we) (?:be able to )?|would you mind |"
    r"(?:i )?(?:need|want) you to |try to |you (?:need|have) to |id like you to )?"
)
_BIT = r"(?: (?:a )?(?:little|bit|little bit|lot|tad|way))*"
_SOMEONE = (
    r"(?:(?:a|an|the|some|any|one of the|one of your) )?(?:(?:real|actual|live|human|staff) )*"
    r"(?:person|human(?: being)?|someone|somebody|anyone|anybody|representative|rep|agent|operator|"
    r"receptionist|reception|front desk|staff(?: member)?|member of (?:the )?staff|people|"
    r"customer service)"
    r"(?: (?:at|from|in) the (?:front desk|clinic|office|desk|reception))?"
    r"(?: (?:instead|there|real|right now|now|who works there))?"
)
_MACHINE = (
    r"(?:(?:a|an|the) )?(?:(?:real|actual|live|human|automated) )*"
    r"(?:robot|bot|machine|computer|ai|a i|person|human(?: being)?|recording|automated|system|"
    r"answering machine|somebody|someone|real)"
)
_WHAT = r"(?:(?:phone )?number|address|time|price|room)"
_THAT = (
    r"(?:that|it|this|what you (?:just )?said|yourself|me|"
    rf"(?:that|the) (?:last )?(?:answer|part|bit|one|{_WHAT}))"
)

_PHRASES: dict[Reason, str] = {
    Reason.GOODBYE: (
        r"good ?(?:bye|by|buy)|bye(?: ?bye)*(?: (?:now|then))?|(?:i )?(?:will )?(?:see|talk to) you"
        r"(?: (?:later|then|soon))?|good ?night|take care|so long"
        r"|(?:you |i )?have a (?:very )?(?:nice|good|great|lovely|wonderful)"
        r" (?:day|one|evening|night|afternoon|weekend|rest of your day)"
        r"|(?:i think )?(?:that|thats|that is|that was|that will be|thatll be|that would be)"
        r" (?:all|everything|it(?= (?:i|that|for)\b))"
        r"(?: (?:i|that i) (?:need|needed|wanted|have)(?: to know)?)?"
        r"(?: for (?:now|today))?"
        r"|(?:you can )?hang up(?: now)?|end (?:the|this) call|nothing else"
        r"|(?:it was )?(?:a )?(?:nice|good|great|very good|pleasure) "
        r"(?:to (?:speak|talk) (?:with|to) you|"
        r"talking to you|speaking (?:with|to) you|chatting(?: with you)?)|im (?:all set|done)"
        r"|(?:im )?going now"
    ),
    Reason.PERSON: (
        rf"(?:(?:can|could|may|might) i |"
        rf"i (?:want|wanted|went|need|wanna|would|have|d)(?: like)?(?: to)? |"
        rf"id (?:rather|like to|prefer to) |let me |how (?:do|can) i |is it possible to )?"
        rf"(?:talk|speak|talking|speaking|chat)(?: (?:to|with))? {_SOMEONE}"
        rf"|{_ASK}(?:connect|transfer|put|patch|forward|pass|switch)(?: me)?"
        rf"(?: (?:on|over|through))?(?: (?:to|with))? {_SOMEONE}"
        rf"|{_ASK}(?:transfer|connect) me|{_ASK}put me through"
        rf"|{_ASK}(?:get|give|find) me {_SOMEONE}"
        rf"|(?:i (?:want|need|d like|would like)|id like|can i (?:have|get)|i prefer) {_SOMEONE}"
        rf"|is there (?:a )?(?:{_SOMEONE})(?: (?:available|there))?(?: (?:that )?i (?:can|could))?"
        rf"(?: (?:to )?(?:talk|speak) (?:to|with))?"
        rf"|(?:a )?(?:real |live |actual )(?:person|human)|human|representative|operator|"
        rf"receptionist|(?:the )?front desk|agent|customer service"
    ),
    Reason.ARE_YOU_A_ROBOT: (
        rf"(?:(?:do i|am i) (?:talking|speaking) (?:to|with)|"
        rf"(?:are you|is this|is that|is it|youre)) {_MACHINE}"
        rf"(?: or (?:are you |is this )?(?:not|{_MACHINE}))?(?: thats real)?"
        rf"|(?:let me know |tell me |i (?:want|d like) to know )?(?:if|whether) "
        rf"(?:you are|youre|your|this is) {_MACHINE}(?: or (?:are |are you )?{_MACHINE})?"
        r"|(?:who|what) (?:am i (?:talking|speaking) (?:to|with)|are you)|whos this|who is this"
        r"|youre not (?:a )?(?:real|human|person|real person)"
    ),
    Reason.REPEAT: (
        rf"{_ASK}(?:repeat|repeating)(?: {_THAT})?(?: (?:again|once more|one more time))?"
        r"(?: (?:for|to) me)?"
        rf"|{_ASK}(?:say|saying|tell|read|give|phrase|run)(?: me)?(?: {_THAT})?"
        r"(?: (?:question|by me))? (?:again|once more|one more time|back)(?: (?:for|to) me)?"
        rf"|{_ASK}repeat what you (?:just )?said(?: (?:earlier|before))?"
        r"|come again|once more|one more time|pardon(?: me)?|excuse me|sorry|what|huh|again"
        r"|what (?:did|do|was) (?:you|that)(?: just)?(?: (?:say|said|again))?|whatd you say"
        rf"|what (?:was|were) (?:that|it|you saying|(?:that|the) {_WHAT} again)(?: again)?"
        r"|what was the (?:last|answer)(?: part)?"
        r"|i (?:didnt|did not|dont|couldnt|could not) (?:quite )?"
        r"(?:hear|catch|get|understand|follow)"
        r"(?: (?:that|you|it|what you said|a word|any of that))?"
        r"|i missed (?:that|it)"
    ),
    Reason.LOUDER: (
        rf"{_ASK}(?:speak|talk|say (?:it|that)|be){_BIT} (?:up|louder|more loudly){_BIT}"
        rf"|{_BIT} ?louder"
        rf"|(?:a )?(?:little|bit|little bit) louder|volume up|speak up|louder"
        rf"|{_ASK}(?:turn|increase|raise)(?: up)?(?: (?:the|your|it))?"
        r"(?: (?:volume|voice))?(?: up)?"
        r"|i (?:cant|cannot|can not|can|could|couldnt)(?: (?:barely|hardly|really))? hear"
        r"(?: (?:you|anything|a thing))?(?: (?:well|very well|at all))?"
        r"|(?:youre|you are|your voice is|its|it is|this is|the sound is|thats) (?:very |too |so )"
        r"(?:quiet|low|soft|faint)"
    ),
    Reason.SLOWER: (
        rf"{_ASK}slow(?:er)?(?: (?:down|it down|your voice|down your voice))?{_BIT}"
        rf"|{_ASK}(?:speak|talk|say|go|read)(?: (?:it|that|this))?(?: again)?{_BIT}"
        rf" (?:slower|slowly|more slowly|slow){_BIT}"
        rf"|(?:{_BIT} ?(?:slower|more slowly))"
        r"|(?:(?:youre|you are|you|that was|that is|thats|this is|its|your) )?(?:(?:talk|talking|"
        r"speak|speaking|going|go) )?(?:(?:way|a bit|a little|just) )?(?:too|not so) (?:fast|quick|"
        r"quickly)(?: for me)?"
    ),
    Reason.WAIT: (
        r"(?:can you |could you |please )?(?:wait|hold|hold on|hang on|stay on|hold the line)"
        r"(?: (?:for )?(?:a|one|just a|just one) (?:moment|second|sec|minute|min))?(?: for me)?"
        r"|(?:just )?(?:a|one|just a|just one|half a) (?:moment|second|sec|minute|min)"
        r"|(?:can you )?(?:give|gimme)(?: me)? (?:a|one|just a) (?:moment|second|sec|minute|min)"
        r"|bear with me|(?:wait )?(?:while|til|until) i (?:get|find|grab) "
        r"(?:a |my )?(?:pen|paper|pencil|card)"
        r"|(?:let me|i need to|i have to|ill) (?:just )?(?:get|find|grab|think|see|check|write)"
        r"(?: (?:that|it|this|my|a|some|something))?"
        r"(?: (?:pen|paper|pencil|down|to write(?: with)?|calendar|card|about it))*"
        r"|(?:please )?(?:stop|hush|be quiet|stop talking|stop speaking)"
    ),
    Reason.THANKS: (
        r"(?:many |no )?(?:thanks|thank ?you|thank u|thank)(?: (?:so|very) much| a lot| a bunch| "
        r"again| kindly)*"
        r"(?: for (?:all )?(?:your|the|that|this|all your|you|trying|everything)?(?: "
        r"(?:help|time|assistance|answer|reply|response|information|info|helping))?"
        r"(?: (?:and|me|trying|to|help))*)?"
        r"|i (?:really )?appreciate (?:it|that|your help|you)|much appreciated|cheers"
        r"|(?:that|thats|that is|that was|that answer was|youve been|you have been|you were)"
        r" (?:very |really |so |most )?(?:helpful|kind|a great help|a big help)|youre the best"
    ),
    Reason.GREETING: (
        r"hello|hi|hey|hiya|howdy|good (?:morning|afternoon|evening|day)|hey there|hi there"
        r"|hello there|how are (?:you|things)(?: doing)?(?: today)?|how is it going|hows it going|"
        r"whats (?:up|new)|is (?:anyone|anybody|somebody|someone) (?:there|here)|are you (?:there|"
        r"still there)|can you hear me|hola|i (?:have|got) a question|"
        r"can i ask (?:you )?(?:a question|something)|"
        r"(?:can|could) (?:you|someone|somebody) help(?: me)?|i need (?:some )?help|help(?: me)?"
    ),
    Reason.ACKNOWLEDGED: (
        r"ok|okay|o k|k|yes|yeah|yep|yup|ya|sure|all? ?right|right|mhm|mm+(?: ?hm+)?|m hm+|hm+|"
        r"uh ?huh|um ?hum|i see|(?:i )?got (?:it|that)|gotcha|great|good|perfect|cool|fine|no|nope|"
        r"nah|"
        r"not really|not right now|understood|(?:that )?sounds (?:good|great|fine|about right)|"
        r"that makes sense|makes sense|(?:that|thats|that is|that was) "
        r"(?:it|right|correct|fine|ok|okay|good|great|perfect|cool|interesting|wonderful)|correct|exactly|oh|ah|wow|nice|absolutely|"
        r"definitely|very good|i understand|never ?mind|nothing|excellent|wonderful|awesome|"
        r"fair enough|"
        r"good to know|all good|no problem"
    ),
}

# Said around a phrase without changing it.
_AROUND = frozenset(
    "um uh er erm well so and then now sorry but sir maam "
    "madam mam dear again there ai oh ah you know".split()
)
# Manner only, wherever they stand.
_MANNER = frozenset({"please", "just", "kindly", "actually", "really"})
_MAX_WORDS = 16

# One plain wording each of what a recogniser is likeliest to bend, for the inexact comparison.
_PLAIN: dict[Reason, tuple[str, ...]] = {
    Reason.GOODBYE: ("goodbye", "okay goodbye", "thanks bye bye", "have a nice day"),
    Reason.PERSON: (
        "can i talk to a person",
        "can i speak to someone",
        "let me talk to a person",
        "let me speak to somebody at the front desk",
        "i want to talk to a human",
        "i want to speak to a representative",
        "connect me to the front desk",
    ),
    Reason.ARE_YOU_A_ROBOT: (
        "are you a robot",
        "is this a robot",
        "am i talking to a real person",
        "are you a real person",
        "are you a machine",
    ),
    Reason.REPEAT: (
        "can you repeat that",
        "could you repeat that",
        "could you say that again",
        "sorry what did you say",
        "repeat that",
        "i didnt catch that",
    ),
    Reason.LOUDER: (
        "can you speak up",
        "i cant hear you",
        "i cant hear you can you speak up",
        "speak louder",
        "a little louder",
    ),
    Reason.SLOWER: (
        "could you slow down a bit",
        "slow down",
        "youre talking too fast",
        "speak more slowly",
    ),
    Reason.WAIT: ("hold on a second", "one moment", "wait a moment", "just a minute"),
    Reason.THANKS: ("thank you so much", "thank you very much", "thanks for your help"),
    Reason.GREETING: ("good morning", "hello good morning", "good afternoon"),
    Reason.ACKNOWLEDGED: ("okay got it", "all right sounds good"),
}


@dataclass(frozen=True, slots=True)
class Said:
    """Which everyday sentence it was, and the answer to it ('' where none is due)."""

    reason: Reason
    say: Spoken


def recognise(text: str) -> Said | None:
    """The everyday sentence that ``text`` is, or ``None`` when it is anything else."""
    words = [w.replace("'", "") for w in split_words(text) if w not in _MANNER]
    if not words or len(words) > _MAX_WORDS:
        return None
    found = _cover(words) or _nearly(words)
    if not found:
        return None
    reason = next(reason for reason in SAYINGS if reason in found)
    return Said(reason, Spoken(SAYINGS[reason]))


def _cover(words: list[str]) -> set[Reason]:
    """The phrases that together make up all of ``words``; empty if something is left over."""
    # reached[n]: the phrases with which the first n words are covered, None if they are not.
    reached: list[set[Reason] | None] = [set()] + [None] * len(words)
    for start in range(len(words)):
        before = reached[start]
        if before is None:
            continue
        if words[start] in _AROUND:
            _reach(reached, start + 1, before)
        for end in range(len(words), start, -1):
            part = " ".join(words[start:end])
            for reason, pattern in _patterns().items():
                if pattern.fullmatch(part):
                    _reach(reached, end, before | {reason})
    return reached[-1] or set()


def _reach(reached: list[set[Reason] | None], at: int, with_phrases: set[Reason]) -> None:
    """Fewer phrases say more: one long phrase beats the short ones inside it."""
    known = reached[at]
    if not known or (with_phrases and len(with_phrases) < len(known)):
        reached[at] = with_phrases


def _nearly(words: list[str]) -> set[Reason]:
    """The plain wording that ``words`` run together differ from in at most a sixth."""
    said = "".join(words)
    for reason, wordings in _PLAIN.items():
        for wording in wordings:
            plain = wording.replace(" ", "")
            allowed = len(plain) // 6
            if abs(len(plain) - len(said)) <= allowed and edits(plain, said, allowed) <= allowed:
                return {reason}
    return set()


@cache
def _patterns() -> dict[Reason, re.Pattern[str]]:
    return {reason: re.compile(pattern) for reason, pattern in _PHRASES.items()}

"""What the first words of whoever answers say of them: a person, a voicemail, a menu, a dead line.

Patterns over lower-case words without punctuation, as a recogniser hears them at 8 kHz.
"""

from __future__ import annotations

import re
from enum import Enum


class Says(Enum):
    """What words are typical of. ``VOICEMAIL`` and ``RECORDS`` tell a machine, the second surely:
    it asks for a message. ``REACHED`` a machine often says, and a person at a desk too.
    """

    NOTHING = "nothing"
    HELLO = "hello"
    OFFERS = "offers"
    REACHED = "reached"
    VOICEMAIL = "voicemail"
    RECORDS = "records"
    SCREENS = "screens"
    MENU = "menu"
    DEAD = "dead"


_NOT_WORDS = re.compile(r"[^\w\s\u0900-\u097f]+")  # vowel signs of Hindi are no \w


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(patterns) + r")(?!\w)")


# A whole utterance of nothing else.
_HELLO = re.compile(
    r"(?:(?:hello|hallo|hi|hey|yes|yeah|yep|yo|ok|okay|well|oh|there|sir|maam|please|speaking"
    r"|go ahead|speak|good (?:morning|afternoon|evening|day)|who is (?:this|it|that|calling)"
    r"|whos (?:this|that|calling)|can you hear me|are you there|anybody there|anyone there"
    r"|नमस्ते|नमस्कार|हैलो|हेलो|हाँ|जी|हाँ जी|कौन|बोलिए)\s*)+"
)
_TAKES = _any(
    r"(?:can|may|could|shall|should) (?:i|we) take (?:a|your) (?:message|number|name)",
    r"(?:would|do) (?:you|he|she|they) (?:like|want|care|wish) (?:me )?to (?:leave|take)",
    r"leave (?:\w+ ){1,2}with (?:me|us)",
)
_OFFERS = _any(
    r"(?:how|what) (?:can|may|could|do) (?:i|we) (?:help|do|assist|direct|get|serve)",
    r"(?:can|may|could) (?:i|we) (?:help|assist)",
    r"(?:may|can) i ask (?:who|whom|whose|whos)",
    r"who (?:is|am i) (?:calling|speaking|this|that)",
    r"who do i have the pleasure",
    r"(?:what are|who are|what were) you calling",
    r"how (?:are you|is it going|may i direct)",
    r"what (?:is this|s this|can i do)",
    r"(?:i will|ill|let me) (?:get|find|fetch|go get) (?:him|her|them)",
    r"speaking$",
    r"who would you like to speak",
    r"क्या मदद|कैसे मदद|कौन बोल",
)  # fmt: skip
_RECORDS = _any(
    r"leave (?:(?:me|us|him|her|them|it|a|an|the|your|any|just|it|ya) )*"
    r"(?:\w+ ){0,3}(?:message|messages|name|number|voicemail|details|info|information)",
    r"leave (?:it|one) (?:at|after|here)",
    r"(?:after|at|following|until|for|hear) (?:the |a |that |you hear the )?(?:\w+ )?"
    r"(?:tone|beep|beeps|signal|bleep)",
    r"(?:sound of the|the) (?:tone|beep)$",
    r"record (?:your|a|the) (?:\w+ )?message",
    r"(?:begin|start) recording",
    r"(?:finished|done) recording",
    r"you know what to do",
    r"(?:बीप|टोन|ध्वनि|सिग्नल) के बाद|संदेश (?:छोड़|रिकॉर्ड)|मैसेज छोड़",
)  # fmt: skip
_VOICEMAIL = _any(
    r"voice ?(?:mail|mails|message system|message service|messaging|box)",
    r"mail ?box",
    r"answer(?:ing)? (?:machine|service)",
    r"(?:is|am|are|im|not|currently|were|was) (?:\w+ )?(?:un|not )available",
    r"(?:nobody|no one|none of us|neither of us) (?:is|are|s)(?: \w+)? (?:available|home|here|in)",
    r"unavailable",
    r"(?:cant|cannot|can not|could not|couldnt|unable to|not able to) (?:\w+ )?"
    r"(?:come to|get to|take|answer|pick up|reach) (?:\w+ )?(?:phone|call|calls|your|you)",
    r"(?:not|arent|isnt) (?:here|home|in|at home|in the office|at my desk|around) "
    r"(?:right now|just now|at the moment|at this time|today|currently)",
    r"away from (?:my|the|our) (?:desk|phone|office)",
    r"(?:sorry|were sorry|im sorry) (?:i|we|that i|that we|to have) missed (?:your|you)",
    r"missed your call",
    r"(?:get|be|getting) (?:right )?back to you",
    r"(?:return|returning) (?:your|the|all) calls?",
    r"(?:call|ring|phone) (?:you|ya) (?:right )?back",
    r"(?:has|have|call is|been) (?:been )?forwarded",
    r"the (?:person|party|customer|subscriber|mobile customer|extension) (?:you|at|that you)",
    r"out of (?:the )?office",
    r"(?:office|store|shop|we|business|clinic|desk|lines?) (?:is|are|re) (?:\w+ )?closed",
    r"उपलब्ध नहीं|जवाब नहीं दे",
)  # fmt: skip
_REACHED = _any(
    r"(?:youve|you have|you) reached",
    r"(?:thank you|thanks) for (?:calling|your call)",
    r"(?:office|opening|business|our) hours are",
    r"please call (?:back|again|us)",
    r"not here",
    r"this is the (?:\w+ ){1,4}(?:residence|household|family)",
)
_SCREENS = _any(
    r"(?:record|say|state|give) (?:your|me your) name and (?:the |your )?(?:reason|why|purpose)",
    r"(?:say|state|record) your name",
    r"screening (?:service|assistant|calls?)",
    r"(?:call|virtual|google|digital) assistant",
    r"why (?:youre|you are) calling",
    r"reason for (?:your call|calling)",
)
_MENU = _any(
    r"(?:press|dial) (?:or say )?"
    r"(?:one|two|three|four|five|six|seven|eight|nine|zero|\d|star|pound|hash|the)",
    r"(?:your|this) call (?:is|may be|will be) (?:very )?(?:important|monitored|answered)",
    r"(?:stay|remain) on the line",
    r"next available",
    r"(?:partys|parties|your|the) extension",
    r"(?:listen|menu) (?:carefully|options|to the following)",
    r"para espa\w+",
    r"calls? will be answered",
)
_DEAD = _any(
    r"(?:mail ?box|voice ?mail|mail box|memory) (?:is|s)(?: currently| now)? full",
    r"(?:not|cannot|cant|can not) accept (?:any )?(?:more |new )?(?:messages|calls)",
    r"not (?:been )?set ?up",
    r"(?:not|isnt|no longer) (?:\w+ )?(?:accepting|taking) (?:\w+ )?(?:messages|calls)",
    r"not (?:in service|a working number|reachable|valid)",
    r"number (?:\w+ ){0,6}(?:disconnected|changed)",
    r"(?:cannot|can not|cant|could not) be completed",
    r"(?:circuits|lines) are (?:\w+ )?busy",
    r"switched off",
    r"(?:out of|outside) (?:the )?(?:coverage|service)",
    r"(?:does|do) not accept (?:\w+ )?(?:calls|unidentified|anonymous|unknown)",
    r"out of service|no longer in service",
    r"check the number",
    r"स्विच ऑफ|बंद है|संपर्क (?:क्षेत्र|से बाहर)|मौजूद नहीं|व्यस्त है",
)

_IN_ORDER = (
    (Says.DEAD, _DEAD),
    (Says.OFFERS, _TAKES),
    (Says.SCREENS, _SCREENS),
    (Says.RECORDS, _RECORDS),
    (Says.OFFERS, _OFFERS),
    (Says.VOICEMAIL, _VOICEMAIL),
    (Says.MENU, _MENU),
    (Says.REACHED, _REACHED),
)


def words_of(text: str) -> str:
    """``text`` in lower case, one blank between words, apostrophes and all other signs gone."""
    joined = text.lower().replace("'", "").replace("’", "").replace(".m.", "m")
    return " ".join(_NOT_WORDS.sub(" ", joined).split())


def says(text: str) -> Says:
    """What ``text``, all that was heard so far, is typical of: the surest kind wins."""
    words = words_of(text)
    if not words:
        return Says.NOTHING
    if _HELLO.fullmatch(words):
        return Says.HELLO
    return next((kind for kind, pattern in _IN_ORDER if pattern.search(words)), Says.NOTHING)

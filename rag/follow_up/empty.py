"""An "it" or "that" that stands for nothing said before: "is it possible to park", "is that all".

The words around it tell, at most three before and twelve after, so that cost is linear.
"""

from __future__ import annotations

import re

_BEFORE, _AFTER = 3, 12

_DEGREE = r"(?:(?:too|very|so|still|always|not|even|really|also|usually|at all) )?"
_FOR_WHOM = r"(?: for \S+(?: \S+){0,3}?)?"
# Of an act: "is it allowed to smoke". With "if" these may still be said of a thing.
_OF_AN_ACT = (
    r"possible|okay|ok|alright|true|necessary|hard|easy|difficult|safe|free|better|best|fine|worth|"
    r"allowed|important|normal|common|legal|illegal|late|early|soon|rude|customary|required|usual|"
    r"recommended|advisable|mandatory|cheaper|likely|bad|good|dangerous|healthy|wrong|compulsory|"
    r"polite|quicker|faster|easier|enough|(?:a|an|any) (?:\w+ )?(?:idea|problem|issue|trouble|must|"
    r"crime|rule|risk|requirement)"
)
_OF_A_CASE = (
    r"possible|okay|ok|alright|true|necessary|fine|important|normal|common|bad|rude|enough|clear|"
    r"(?:a|an|any) (?:\w+ )?(?:problem|issue|trouble|emergency)"
)
_AN_ACT = r"to (?!(?:the|a|an|my|your|our|this|that|its|me|us|them|\d+)\b)\w+"
_CASE = r"(?:if|when|that|whether)\b"
_AFTER_IT = re.compile(
    rf"(?:(?:is|was|be|would be|will be|might be) )?{_DEGREE}(?:"
    rf"(?:{_OF_AN_ACT}){_FOR_WHOM} {_AN_ACT}|(?:{_OF_A_CASE}) {_CASE}|"
    r"(?:normal|usual|common) for\b)"
    r"|worth \w+ing\b"
    r"|matter (?:if|what|which|when|where|who|whether|how)\b"
    r"|makes? (?:an? |any )?(?:sense|difference)\b"
    r"|makes an? "
    r"|called (?:again )?(?:when|if)\b"
    rf"|(?:help|hurt|make sense) {_AN_ACT}|help if\b"
    r"|(?:hurts?|burns|aches|itches) (?:when|if|to)\b"
    r"|(?:is |was |starts to |starts )?(?:rain|snow|thunder)(?:s|ing|y)?\b"
    r"|(?:is|gets|was) (?:\w+ )?(?:hot|cold|dark|wet|windy|icy|sunny|urgent)\b"
    r"|(?:says|said) (?:on|in|at|that|here|online|you|your)\b"
    r"|(?:all )?(?:sounds?|looks?|seems?|feels?|turns out|depends)\b"
    r"|has been (?:\S+ ){1,4}(?:since|ago)\b"
    r"|is all\b"
)
_TAKES = re.compile(rf"(?:cost|take)\b(?: \S+){{0,6}}? {_AN_ACT}")
# "Is it easy to find" asks of a thing after all.
_TO_DO_WITH_A_THING = re.compile(
    rf"{_DEGREE}(?:"
    r"(?:hard|easy|difficult|safe|good|healthy|dangerous) to \w+(?: to| in| on| with)?|"
    r"free to (?:use|enter|join|try|visit|watch))$"
)
# A filler list may have dropped the "okay" of "is it okay to"; "how far is it to the station".
_IS_IT = re.compile(r"(?:^| )(?:is|was|would)$")
_AFTER_IS_IT = re.compile(
    r"(?:(?:alright )?to|if|me$|(?:that|because) (?:i|you|we|they|the|there|my)\b)"
)
_BEFORE_IT = re.compile(r"(?:\b(?:what|which) (?:time|day|date|year)(?: is)?|appreciate|is that)$")
_MADE_IT = re.compile(r"(?:on time|in time|by|before|there|today|tomorrow)\b")
_AFTER_THAT = re.compile(
    r"being said\b|said\b|way\b|(?:really )?(?:right|true|correct|all|clear|so|why|it|everything|"
    r"the case)$|(?:sounds?|looks?|seems?|makes? sense)\b"
)


def is_empty(words: list[str], at: int) -> bool:
    """Whether the "it" or "that" at ``at`` in ``words`` stands for nothing said before."""
    before = " ".join(words[max(0, at - _BEFORE) : at])
    after = " ".join(words[at + 1 : at + 1 + _AFTER])
    if words[at] == "that":
        # "How about that, do you cater for weddings".
        return bool(_AFTER_THAT.match(after) or (after and before.endswith("how about")))
    if words[at] != "it":
        return False
    if _TO_DO_WITH_A_THING.match(after):
        return False
    return bool(
        _AFTER_IT.match(after)
        or _BEFORE_IT.search(before)
        or (_IS_IT.search(before) and _AFTER_IS_IT.match(after))
        or (before.endswith(("does", "do", "will", "would", "did", "can")) and _TAKES.match(after))
        or (before.endswith(("make", "made")) and _MADE_IT.match(after))
    )

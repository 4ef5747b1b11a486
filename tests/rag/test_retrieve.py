import itertools

import numpy as np
import pytest

from rag import answer, documents, make_query
from rag.building import build
from rag.deadline import Deadline
from rag.entry import Recipe
from rag.retrieve import retrieve
from rag.types import Policy, Query
from tests.rag.shop_kb import floors, write_kb
from tests.rag.table_embedder import TableEmbedder

PARKING = "Parking is free."
HINDI = "पार्किंग मुफ़्त है"
BIKES = "Bikes are sold here."
TABLE = {
    PARKING: (1.0, 0.0),
    HINDI: (0.99, 0.14),
    BIKES: (0.5, 0.87),
    "far away": (0.0, 0.0, 1.0),
}
ASKED = np.eye(16, dtype=np.float32)[0]


def index_of(tmp_path, *texts, **recipe):
    folder = write_kb(tmp_path / "kb", a="\n\n".join(texts))
    return build(documents.load(folder), TableEmbedder(TABLE), {}, Recipe(expand=False, **recipe))


def found(index, text="parking", language="en", deadline=None, **policy):
    policy = Policy(**policy)
    query = Query(text, text, language=language)
    return retrieve(query, ASKED, index, policy, deadline or Deadline(policy.deadline_ms))


def test_order_is_by_cosine(tmp_path):
    index = index_of(tmp_path, BIKES, PARKING, "Nothing of that.")
    hits = found(index, candidates=2).hits
    assert [h.passage.text for h in hits] == [PARKING, BIKES]
    assert hits[0].score == pytest.approx(1.0)
    assert [h.bonus for h in hits] == [0.0, 0.0]


def test_a_passage_in_the_language_of_the_question_is_preferred(tmp_path):
    index = index_of(tmp_path, PARKING, HINDI, BIKES)
    assert index.languages == ("en", "hi")
    hits = found(index, language="hi", candidates=2).hits
    assert [h.passage.text for h in hits] == [HINDI, PARKING]
    assert [h.bonus for h in hits] == [0.03, 0.0]
    # The cosine that the floor sees is left as it is.
    assert hits[0].score == pytest.approx(0.99, abs=0.001)
    assert [h.passage.text for h in found(index, language="en").hits][:2] == [PARKING, HINDI]


def test_the_pool_is_three_times_larger_for_it(tmp_path):
    # Three passages are closer than the one in Hindi; with one candidate wanted it still comes up.
    near = {f"Closer {n}.": (1.0, 0.01 * n) for n in (1, 2)}
    index = build(
        documents.load(write_kb(tmp_path / "kb", a="\n\n".join([*near, HINDI]))),
        TableEmbedder({**TABLE, **near}),
        {},
        Recipe(expand=False),
    )
    assert found(index, language="hi", candidates=1).hits[0].passage.text == HINDI


KIOSK = "The kiosk sells umbrellas."


def test_words_add_passages_behind_the_closest(tmp_path):
    index = index_of(tmp_path, BIKES, PARKING, "Something else.", KIOSK, "Another.", sparse=True)
    asked = "umbrellas and bikes at the kiosk"
    plain = found(index, asked, candidates=2)
    wide = found(index, asked, candidates=2, hybrid=True)
    assert [h.passage.text for h in plain.hits] == [PARKING, BIKES]
    assert wide.hits[:2] == plain.hits
    assert [h.passage.text for h in wide.hits[2:]] == [KIOSK]
    assert wide.hits[2].score == pytest.approx(index.cosine(ASKED, 3))
    assert wide.degraded == ()


def test_no_more_by_words_than_by_meaning(tmp_path):
    offers = [f"The kiosk sells umbrella number {n}." for n in range(30)]
    index = index_of(tmp_path, PARKING, BIKES, *offers, sparse=True)
    hits = found(index, "umbrella", candidates=2, hybrid=True).hits
    assert [h.passage.text for h in hits[:2]] == [PARKING, BIKES]
    assert len(hits) == 4
    scores = [h.score for h in hits]
    assert scores == sorted(scores, reverse=True)


PLACES = """
Kersey Lavenham Sudbury Hadleigh Bures Nayland Polstead Stoke Boxford Groton Edwardstone Milden
Bildeston Wattisham Hitcham Rattlesden Woolpit Elmswell Norton Thurston Pakenham Ixworth Stanton
Hepworth Walsham Botesdale Rickinghall Wortham Palgrave Diss Scole Oakley Hoxne Eye Yaxley Mellis
Thornham Gislingham Finningham Bacton Cotton Mendlesham Wetheringsett Debenham Framsden Helmingham
Otley Grundisburgh Hasketon Woodbridge Melton Ufford Wickham Rendlesham Eyke Bromeswell Sutton
Shottisham Hollesley Alderton Bawdsey Orford Sudbourne Snape Leiston Aldeburgh Thorpeness
Saxmundham Kelsale Yoxford Darsham Westleton Dunwich Walberswick Blythburgh Wenhaston Halesworth
Holton Wangford Southwold Reydon Wrentham Kessingland Lowestoft Beccles Bungay Earsham Homersfield
Harleston Mendham Fressingfield Laxfield Stradbroke Wilby Brundish Dennington Framlingham Parham
Easton
""".split()


def test_a_passage_that_only_the_words_find_is_quoted(tmp_path, embedder):
    rounds = [
        f"We deliver to {first}, {second} and {third} for ${5 + number}."
        for number, (first, second, third) in enumerate(
            zip(PLACES[::3], PLACES[1::3], PLACES[2::3], strict=True)
        )
    ]
    kb = documents.load(write_kb(tmp_path / "kb", rounds="\n\n".join(rounds)))
    index = build(kb, embedder, {"en": floors(embedder.hash)}, Recipe(expand=False, sparse=True))
    assert len(index.kb.passages) > 30
    right = next(text for text in rounds if "Alderton" in text)
    query = make_query("do you deliver to alderton")
    plain, wide = (answer(query, index, Policy(hybrid=hybrid)) for hybrid in (False, True))
    assert right not in [h.passage.text for h in plain.hits]
    assert right not in plain.say.text
    assert wide.say.text == right


def test_a_missing_or_late_leg_says_so(tmp_path):
    index = index_of(tmp_path, PARKING, BIKES)
    result = found(index, hybrid=True)
    assert result.degraded == ("sparse_leg_not_built",)
    assert result.hits[0].passage.text == PARKING
    index = index_of(tmp_path, PARKING, BIKES, sparse=True)
    clock = itertools.count(0, 300_000_000)
    late = found(index, hybrid=True, deadline=Deadline(200, lambda: next(clock)))
    assert late.degraded == ("sparse_leg_skipped_deadline",)
    assert late.hits[0].passage.text == PARKING


class Backwards:
    """Likes the last text best."""

    def score(self, question, texts):
        return np.arange(len(texts), dtype=np.float32)


def test_a_reranker_narrows_the_pool_to_four(tmp_path):
    index = index_of(tmp_path, *(f"Passage {n}." for n in range(9)), PARKING)
    hits = found(index, candidates=3, reranker=Backwards()).hits
    assert len(hits) == 3
    assert PARKING not in [h.passage.text for h in hits]
    clock = itertools.count(0, 300_000_000)
    skipped = found(index, reranker=Backwards(), deadline=Deadline(200, lambda: next(clock)))
    assert skipped.degraded == ("rerank_leg_skipped_deadline",)
    assert skipped.hits[0].passage.text == PARKING


class ForUmbrellas:
    """Likes texts about umbrellas; ``seen`` are the texts of the last question."""

    def score(self, question, texts):
        self.seen = texts
        return np.array(["umbrella" in text for text in texts], np.float32)


def test_the_reranker_sees_what_the_words_found(tmp_path):
    near = {f"Bike {n} is sold here.": (1.0, 0.02 * n) for n in range(30)}
    folder = write_kb(tmp_path / "kb", a="\n\n".join([*near, KIOSK]))
    recipe = Recipe(expand=False, sparse=True)
    index = build(documents.load(folder), TableEmbedder(near), {}, recipe)
    reranker = ForUmbrellas()
    hits = found(index, "umbrellas", hybrid=True, reranker=reranker).hits
    assert reranker.seen == [*[*near][:10], KIOSK, *[*near][10:19]]
    assert [h.passage.text for h in hits] == [KIOSK, *[*near][:3]]
    # The words end in time: five readings of the clock.
    clock = itertools.chain(itertools.repeat(0, 5), itertools.repeat(300_000_000))
    late = Deadline(200, lambda: next(clock))
    skipped = found(index, "umbrellas", hybrid=True, reranker=reranker, deadline=late)
    assert skipped.degraded == ("rerank_leg_skipped_deadline",)
    assert [h.passage.text for h in skipped.hits] == [*[*near][:10], KIOSK]


def test_passages_left_out_are_never_found(tmp_path):
    index = index_of(tmp_path, PARKING, BIKES, sparse=True)
    hits = found(index, hybrid=True, leave_out=frozenset({"kb-a#1"})).hits
    assert [h.passage.text for h in hits] == [BIKES]

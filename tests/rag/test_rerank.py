"""The cross-encoder, on real ONNX files small enough to know the scores of."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from frontdesk import ModelFileError
from rag.rerank import CrossEncoder

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "open", "saturday", "parking", "shot"]
# What each token adds to the score where it stands in the text (segment 1).
WORTH = np.array([100, 0, 0, 0, 1, 2, -3, 0.5], np.float32)


def write_tokenizer(folder, words=WORDS):
    tokenizer = Tokenizer(WordLevel({w: n for n, w in enumerate(words)}, unk_token=words[3]))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def write_model(folder, *, logits=1, inputs=("input_ids", "attention_mask", "token_type_ids")):
    """Sum over the text's own tokens of their worth: [sum] or [-sum, sum] and so on."""
    signs = {1: [1], 2: [-1, 1], 3: [1, 1, 1]}[logits]
    nodes = [
        helper.make_node("Gather", ["worth", "input_ids"], ["each"]),
        helper.make_node("Mul", ["attention_mask", "token_type_ids"], ["kept"]),
        helper.make_node("Cast", ["kept"], ["keep"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["each", "keep"], ["worths"]),
        helper.make_node("ReduceSum", ["worths", "axis"], ["sum"], keepdims=1),
        helper.make_node("MatMul", ["sum", "signs"], ["logits"]),
    ]
    constants = [
        helper.make_tensor("worth", TensorProto.FLOAT, [len(WORTH)], WORTH),
        helper.make_tensor("axis", TensorProto.INT64, [1], [1]),
        helper.make_tensor("signs", TensorProto.FLOAT, [1, logits], signs),
    ]
    if "token_type_ids" not in inputs:
        nodes[1] = helper.make_node("Identity", ["attention_mask"], ["kept"])
    graph = helper.make_graph(
        nodes,
        "scores",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "m"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", logits])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, folder / "model.onnx")


@pytest.fixture
def folder(tmp_path):
    write_tokenizer(tmp_path)
    write_model(tmp_path)
    return tmp_path


TEXTS = ["open saturday", "parking", "shot shot shot open saturday what", ""]


def test_one_logit_is_the_score(folder):
    scores = CrossEncoder(folder).score("open parking", TEXTS)
    assert scores.dtype == np.float32
    # Padding is worth 100 and must not count, nor do the question's own words.
    assert scores.tolist() == [3.0, -3.0, 4.5, 0.0]


def test_of_two_logits_the_difference(folder):
    write_model(folder, logits=2)
    assert CrossEncoder(folder).score("open", TEXTS).tolist() == [6.0, -6.0, 9.0, 0.0]


def test_a_model_without_segments(folder):
    write_model(folder, inputs=("input_ids", "attention_mask"))
    assert CrossEncoder(folder).score("open", TEXTS).tolist() == [4.0, -2.0, 5.5, 1.0]


def test_more_pairs_than_a_batch_holds(folder):
    texts = ["open " * n for n in range(70)]
    reranker = CrossEncoder(folder)
    assert reranker.score("parking", texts).tolist() == list(range(70))
    assert reranker.score("parking", []).shape == (0,)


def test_a_long_text_is_cut_and_not_the_question(folder):
    # 10 tokens: [CLS] shot shot [SEP], five of the text, [SEP].
    scores = CrossEncoder(folder, max_tokens=10).score("shot shot", ["saturday " * 50])
    assert scores.tolist() == [10.0]


def test_the_hash_is_of_the_files(folder):
    before = CrossEncoder(folder).hash
    assert CrossEncoder(folder).hash == before
    assert CrossEncoder(folder, max_tokens=10).hash != before
    write_model(folder, logits=2)
    assert CrossEncoder(folder).hash != before


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ModelFileError, match=rf"{name} is missing; put an ONNX cross-encoder's"):
        CrossEncoder(folder)


@pytest.mark.parametrize("content", [b"", b"not a model", bytes(range(256))])
def test_a_broken_model_is_named(folder, content):
    (folder / "model.onnx").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.onnx cannot be loaded .*; put a complete"):
        CrossEncoder(folder)


@pytest.mark.parametrize("content", ["", "{}", "[1]"])
def test_a_broken_tokenizer_is_named(folder, content):
    (folder / "tokenizer.json").write_text(content, "utf-8")
    with pytest.raises(ModelFileError, match=r"tokenizer\.json is not a tokenizer of the"):
        CrossEncoder(folder)


def test_a_tokenizer_without_padding_is_refused(folder):
    table = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    del table["model"]["vocab"]["[PAD]"]
    (folder / "tokenizer.json").write_text(json.dumps(table), "utf-8")
    with pytest.raises(ModelFileError, match=r"has no padding token \(\[PAD\], <pad>\)"):
        CrossEncoder(folder)


def test_a_model_of_another_kind_is_refused(folder):
    write_model(folder, logits=3)
    with pytest.raises(
        ModelFileError, match=r"shape \(2, 3\) for 2 pairs; it must give one or two"
    ):
        CrossEncoder(folder).score("open", ["a", "b"])
    graph = helper.make_graph(
        [helper.make_node("Identity", ["pixels"], ["y"])],
        "picture",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(ModelFileError, match="takes pixels; a cross-encoder takes input_ids"):
        CrossEncoder(folder)

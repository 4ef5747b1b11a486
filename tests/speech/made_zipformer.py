"""A made-up zipformer: the files, inputs, outputs and metadata of a streaming zipformer2
transducer as icefall exports it, with weights that say HELLO once for anything loud.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_T, _CHUNK, _DIM, _KERNEL, _LEFT, _HEADS, _HEAD_DIM, _VALUE_DIM = 45, 32, 64, 31, 128, 4, 32, 12
_VOCABULARY, _CONTEXT, _HELLO, _LOUD = 3, 2, 2, -8.0
_METADATA = {
    "model_type": "zipformer2",
    "version": 1,
    "encoder_dims": _DIM,
    "query_head_dims": _HEAD_DIM,
    "value_head_dims": _VALUE_DIM,
    "num_heads": _HEADS,
    "num_encoder_layers": 1,
    "cnn_module_kernels": _KERNEL,
    "left_context_len": _LEFT,
    "T": _T,
    "decode_chunk_len": _CHUNK,
}
_STATES = {
    "cached_key_0": (_LEFT, 1, _HEADS * _HEAD_DIM),
    "cached_nonlin_attn_0": (1, 1, _LEFT, 3 * _DIM // 4),
    "cached_val1_0": (_LEFT, 1, _HEADS * _VALUE_DIM),
    "cached_val2_0": (_LEFT, 1, _HEADS * _VALUE_DIM),
    "cached_conv1_0": (1, _DIM, _KERNEL // 2),
    "cached_conv2_0": (1, _DIM, _KERNEL // 2),
    "embed_states": (1, 128, 3, 19),
}


def write(folder):
    """tokens.txt and the three networks."""
    (folder / "tokens.txt").write_text("<blk> 0\n<unk> 1\n▁HELLO 2\n", encoding="utf-8")
    _save(_encoder(), folder / "encoder-epoch-99-avg-1.onnx", _METADATA)
    vocabulary = {"vocab_size": _VOCABULARY, "context_size": _CONTEXT}
    _save(_decoder(), folder / "decoder-epoch-99-avg-1.onnx", vocabulary)
    _save(_joiner(), folder / "joiner-epoch-99-avg-1.onnx", {"joiner_dim": 1})


def _encoder():
    """Mean log-mel energy of every four frames; the states come back as they were given."""
    nodes = [
        helper.make_node("Slice", ["x", "zero", "chunk", "one"], ["frames"]),
        helper.make_node("Reshape", ["frames", "fours"], ["grouped"]),
        helper.make_node("ReduceMean", ["grouped", "two"], ["encoder_out"], keepdims=1),
    ]
    given = [_tensor("x", (1, _T, 80))]
    made = [_tensor("encoder_out", (1, _CHUNK // 4, 1))]
    for name, shape in _STATES.items():
        given.append(_tensor(name, shape))
        made.append(_tensor(f"new_{name}", shape))
        nodes.append(helper.make_node("Identity", [name], [f"new_{name}"]))
    given.append(_tensor("processed_lens", (1,), TensorProto.INT64))
    made.append(_tensor("new_processed_lens", (1,), TensorProto.INT64))
    nodes.append(helper.make_node("Identity", ["processed_lens"], ["new_processed_lens"]))
    constants = {
        "zero": [0], "chunk": [_CHUNK], "one": [1], "two": [2], "fours": [1, _CHUNK // 4, 320],
    }  # fmt: skip
    return nodes, given, made, _constants(constants)


def _decoder():
    """1 where the last token was HELLO."""
    nodes = [
        helper.make_node("Gather", ["y", "last"], ["token"], axis=1),
        helper.make_node("Equal", ["token", "hello"], ["is_hello"]),
        helper.make_node("Cast", ["is_hello"], ["decoder_out"], to=TensorProto.FLOAT),
    ]
    given = [_tensor("y", ("N", _CONTEXT), TensorProto.INT64)]
    made = [_tensor("decoder_out", ("N", 1))]
    return nodes, given, made, _constants({"last": [_CONTEXT - 1], "hello": [_HELLO]})


def _joiner():
    """HELLO where it is loud and was not said, blank elsewhere."""
    nodes = [
        helper.make_node("Sub", ["encoder_out", "loud"], ["louder"]),
        helper.make_node("Mul", ["decoder_out", "much"], ["said"]),
        helper.make_node("Sub", ["louder", "said"], ["for_hello"]),
        helper.make_node("Mul", ["for_hello", "nothing"], ["for_blank"]),
        helper.make_node("Sub", ["for_blank", "much"], ["for_unknown"]),
        helper.make_node("Concat", ["for_blank", "for_unknown", "for_hello"], ["logit"], axis=1),
    ]
    given = [_tensor("encoder_out", ("N", 1)), _tensor("decoder_out", ("N", 1))]
    weights = {"loud": [_LOUD], "much": [1000.0], "nothing": [0.0]}
    constants = [numpy_helper.from_array(np.float32(v), k) for k, v in weights.items()]
    return nodes, given, [_tensor("logit", ("N", _VOCABULARY))], constants


def _tensor(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def _constants(values):
    return [numpy_helper.from_array(np.int64(v), k) for k, v in values.items()]


def _save(graph, path, metadata):
    nodes, given, made, constants = graph
    model = helper.make_model(
        helper.make_graph(nodes, path.stem, given, made, constants),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=9,
    )
    helper.set_model_props(model, {key: str(value) for key, value in metadata.items()})
    onnx.checker.check_model(model)
    onnx.save(model, path)

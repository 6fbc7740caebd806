"""Damages files as disks, kills and strangers do. A damage is a function of a sound file's bytes and a generator."""

import json
import random
import re
import struct
from typing import Any

STRANGE: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 7, 10**9, 2**63, 10**30, 10**400, -(10**30), 0.5, -0.0, 1e308, 1e-320,
    float("nan"), float("inf"), "", "x", "0", "kuhn", "\u2663\n\x00", "a" * 5000, "../../etc/passwd", [], [[]], [None],
    [1, 2, 3], ["x", "y"], {}, {"x": 1}, {"game": []}, [0] * 5000,
)  # fmt: skip
DTYPES = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2, "I32": 4,
    "U32": 4, "F32": 4, "F64": 8, "I64": 8, "U64": 8,
}  # fmt: skip
NUMBERS = ("nan", "inf", "-inf", "1e38", "-1e-45", "123456789")


def damage(data: bytes, name: str, generator: random.Random) -> bytes:
    """Damage a file in one of the ways that its kind allows; sometimes twice."""
    for _ in range(1 if generator.random() < 0.8 else 2):
        ways = [flip, cut, remove, repeat, overwrite, empty]
        if name.endswith(".safetensors"):
            ways += [change_header] * 6 + [change_about] * 4 + [change_numbers] * 2
        elif name.endswith(".json"):
            ways += [change_json] * 10
        elif name.endswith(".jsonl"):
            ways += [change_line] * 10 + [change_digits] * 2
        else:
            ways += [change_words] * 6 + [change_digits] * 3
        try:
            data = generator.choice(ways)(data, generator)
        except (ValueError, LookupError, TypeError, RecursionError, ArithmeticError):  # damaged too much already
            data = flip(data, generator)
    return data


# ---------------------------------------------------------------- bytes


def _place(data: bytes, generator: random.Random) -> int:
    """Some place, more often at the beginning, where headers are."""
    return generator.randrange(min(len(data), 300) if generator.random() < 0.5 else len(data)) if data else 0


def flip(data: bytes, generator: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(generator.choice((1, 1, 1, 8, 100)) if data else 0):
        found[_place(data, generator)] ^= 1 << generator.randrange(8)
    return bytes(found)


def cut(data: bytes, generator: random.Random) -> bytes:
    return data[: _place(data, generator)]


def remove(data: bytes, generator: random.Random) -> bytes:
    start = _place(data, generator)
    return data[:start] + data[start + generator.choice((1, 2, 8, 50)) :]


def repeat(data: bytes, generator: random.Random) -> bytes:
    start = _place(data, generator)
    part = data[start : start + generator.choice((1, 2, 8, 200))]
    return data[:start] + part * generator.choice((2, 2, 3, 100)) + data[start + len(part) :]


def overwrite(data: bytes, generator: random.Random) -> bytes:
    start = _place(data, generator)
    part = generator.randbytes(generator.choice((1, 4, 8, 64)))
    return data[:start] + part + data[start + len(part) :]


def empty(data: bytes, generator: random.Random) -> bytes:
    return generator.choice(
        (b"", b"\n", b"\0" * 64, b"{}", b"[]", b"null", b"[" * 100_000, b"\xff\xfe", b'{"a":' * 5000)
    )


def change_words(data: bytes, generator: random.Random) -> bytes:
    """Of text: replace, remove or swap words."""
    words = data.split(b" ")
    i, j = generator.randrange(len(words)), generator.randrange(len(words))
    way = generator.randrange(4)
    if way == 0:
        words[i] = str(generator.choice(STRANGE)).encode()
    elif way == 1:
        del words[i]
    elif way == 2:
        words[i], words[j] = words[j], words[i]
    else:
        words.insert(i, words[j])
    return b" ".join(words)


def change_digits(data: bytes, generator: random.Random) -> bytes:
    """One number becomes another, of up to 5,000 digits."""
    start, end = generator.choice([found.span() for found in re.finditer(rb"\d+", data)])
    return data[:start] + generator.choice((b"0", b"007", b"9" * 19, b"9" * 40, b"9" * 5000)) + data[end:]


# ---------------------------------------------------------------- JSON


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Places in a JSON value: (container, key)."""
    found, left = [], [value]
    while left and len(found) < 500:
        each = left.pop(0)
        keys = list(each) if isinstance(each, dict) else range(len(each)) if isinstance(each, list) else ()
        found += [(each, key) for key in keys]
        left += [each[key] for key in keys]
    return found


def _deep(generator: random.Random) -> Any:
    value: Any = 0
    for _ in range(generator.choice((10, 40, 300))):
        value = [value] if generator.random() < 0.5 else {"x": value}
    return value


def _changed(value: Any, generator: random.Random) -> Any:
    strange = _deep(generator) if generator.random() < 0.1 else generator.choice(STRANGE)
    places = _places(value)
    if not places or generator.random() < 0.05:
        return strange
    container, key = generator.choice(places[:60] if generator.random() < 0.7 else places)
    way = generator.randrange(8)
    if way == 0:
        del container[key]
    elif way == 1 and isinstance(container, list):
        container.append(strange)
    elif way == 1:
        container["new"] = strange
    elif way == 2 and isinstance(container[key], (int, float)):
        container[key] += generator.choice((1, -1, 0.5, 2**31, -(2**31)))
    elif way == 3:
        container[key] = [container[key]]
    elif way == 4:
        container[key] = json.dumps(container[key])
    else:
        container[key] = strange
    return value


def change_json(data: bytes, generator: random.Random) -> bytes:
    try:
        return json.dumps(_changed(json.loads(data), generator)).encode()
    except (ValueError, RecursionError):
        return flip(data, generator)


def change_line(data: bytes, generator: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    i, j = generator.randrange(len(lines)), generator.randrange(len(lines))
    way = generator.randrange(8)
    if way == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif way == 1:
        lines.insert(i, lines[j])
    elif way == 2:
        del lines[i]
    else:
        lines[i] = change_json(lines[i], generator) + b"\n"
    return b"".join(lines)


# ---------------------------------------------------------------- tensor files


def _parts(data: bytes) -> tuple[dict[str, Any], bytes] | None:
    try:
        length = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8 : 8 + length])
        return (header, data[8 + length :]) if isinstance(header, dict) else None
    except (ValueError, struct.error, OverflowError):
        return None


def _joined(header: dict[str, Any], body: bytes) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def _tensors(header: dict[str, Any], body: bytes) -> dict[str, tuple[str, list[int], bytes]]:
    return {
        key: (value["dtype"], value["shape"], body[slice(*value["data_offsets"])])
        for key, value in header.items()
        if key != "__metadata__"
    }


def _written(tensors: dict[str, tuple[str, list[int], bytes]], metadata: Any) -> bytes:
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    body = b""
    for key, (dtype, shape, data) in tensors.items():
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    return _joined(header, body)


def change_header(data: bytes, generator: random.Random) -> bytes:
    """Another type, shape or name of a tensor; mostly a file that safetensors itself accepts."""
    parts = _parts(data)
    if parts is None:
        return flip(data, generator)
    header, body = parts
    try:
        tensors = _tensors(header, body)
    except (KeyError, TypeError):
        return flip(data, generator)
    if not tensors:
        return data
    key = generator.choice(list(tensors))
    dtype, shape, content = tensors[key]
    way = generator.randrange(9)
    if way == 0:
        del tensors[key]
    elif way == 1:
        tensors[generator.choice(("x", f"{key}.0", "weights.7", "adam.x.y", "network.x"))] = tensors.pop(key)
    elif way == 2:  # a scalar
        kind = generator.choice(list(DTYPES))
        tensors[key] = kind, [], generator.randbytes(DTYPES[kind])
    elif way == 3:  # the same bytes as another type
        kind = generator.choice(list(DTYPES))
        tensors[key] = kind, [len(content) // DTYPES[kind]], content[: len(content) // DTYPES[kind] * DTYPES[kind]]
    elif way == 4:  # the same shape in another type
        kind = generator.choice(list(DTYPES))
        count = len(content) // DTYPES.get(dtype, 4) * DTYPES[kind]
        tensors[key] = kind, shape, (content * 8)[:count]
    elif way == 5:  # flat, transposed, or with one axis more
        tensors[key] = (
            dtype,
            generator.choice(([len(content) // DTYPES.get(dtype, 4)], shape[::-1], [1, *shape], [*shape, 1])),
            content,
        )
    elif way == 6:  # none
        tensors[key] = dtype, generator.choice(([0], [0, *shape], [2**40, 0], [*shape, 0])), b""
    elif way == 7 and shape:  # fewer or more rows
        row = len(content) // max(1, shape[0])
        rows = generator.choice((1, shape[0] + 1, shape[0] // 2, 3 * shape[0]))
        tensors[key] = dtype, [rows, *shape[1:]], (content * 4)[: rows * row].ljust(rows * row, b"\0")
    else:
        header[key][generator.choice(("shape", "data_offsets", "dtype"))] = generator.choice(
            STRANGE[:12] + STRANGE[-7:]
        )
        return _joined(header, body)
    return _written(tensors, header.get("__metadata__"))


def change_about(data: bytes, generator: random.Random) -> bytes:
    """The JSON values in the header."""
    parts = _parts(data)
    if parts is None:
        return flip(data, generator)
    header, body = parts
    metadata = header.get("__metadata__")
    if not isinstance(metadata, dict) or not metadata or generator.random() < 0.1:
        header["__metadata__"] = generator.choice((None, {}, {"about": "{}"}, {"about": "["}, {"about": "[" * 5000}))
        return _joined(header, body)
    key = generator.choice(list(metadata))
    try:
        metadata[key] = json.dumps(_changed(json.loads(metadata[key]), generator))
    except (ValueError, RecursionError):
        metadata[key] = str(generator.choice(STRANGE))
    return _joined(header, body)


def change_numbers(data: bytes, generator: random.Random) -> bytes:
    """Not a number, infinity and the like inside a tensor."""
    parts = _parts(data)
    if parts is None:
        return flip(data, generator)
    header, body = parts
    found = [value for key, value in header.items() if key != "__metadata__" and value["shape"]]
    if not found:
        return data
    value = generator.choice(found)
    start, end = value["data_offsets"]
    if value["dtype"] in ("F32", "F64") and end > start:
        size = DTYPES[value["dtype"]]
        at = start + generator.randrange((end - start) // size) * size
        number = struct.pack("<f" if size == 4 else "<d", float(generator.choice(NUMBERS)))
        body = body[:at] + number + body[at + size :]
    elif end > start:
        at = generator.randrange(start, end)
        body = body[:at] + bytes([generator.choice((0x7F, 0x80, 0xFF, 0))]) + body[at + 1 :]
    return _joined(header, body)

"""Just enough of protobuf's wire format to take a recorded log apart and put it together again."""


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


def encode(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def records(stream):
    """The records of a log: each follows its length."""
    at = 0
    while at < len(stream):
        size, at = varint(stream, at)
        yield stream[at:at + size]
        at += size


def fields(message):
    """(number, value, key and value as they stand) of each field."""
    at = 0
    while at < len(message):
        start = at
        key, at = varint(message, at)
        if key & 7 == 0:
            value, at = varint(message, at)
        elif key & 7 == 2:
            size, at = varint(message, at)
            value, at = message[at:at + size], at + size
        else:
            raise ValueError(f'wire type {key & 7}')
        yield key >> 3, value, message[start:at]


def with_length(number, data):
    """A field of bytes, text or a message."""
    return encode(number << 3 | 2) + encode(len(data)) + data


def with_number(number, value):
    return encode(number << 3) + encode(value)

"""Makes of a log of today what Buck2 wrote of the same build earlier: one Era each change
of the format, newest first, in protobuf and in JSON. And what a later one may add.

Dates and numbers: history of facebook/buck2, app/buck2_data/data.proto and
app/buck2_cli_proto/daemon.proto; what an era changes in JSON is what serde makes of that.
"""
import json
import sys
from collections import namedtuple
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / 'bench'))
from wire import encode, records, varint

# until: the day of the change; what: it was then; pb, lines: {path: edit}; rows: {(table, column): what the column then holds}
Era = namedtuple('Era', 'until what pb lines rows')


# ---- protobuf ------------------------------------------------------------------------

def unpack(data):
    """[[number, wire type, value], ...] of a message."""
    parts, at = [], 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], at)
            value, at = data[at:at + size], at + size
        parts.append([key >> 3, key & 7, value])
    return parts


def pack(parts):
    out = bytearray()
    for number, wire, value in parts:
        out += encode(number << 3 | wire)
        if wire == 0:
            out += encode(value)
        else:
            out += (encode(len(value)) if wire == 2 else b'') + value
    return bytes(out)


def edit_pb(data, edits, path=()):
    """The message with each edit made to the messages at its path."""
    parts = unpack(data)
    for part in parts:
        below = (*path, part[0])
        if part[1] == 2 and any(p[:len(below)] == below for p in edits):
            part[2] = edit_pb(part[2], edits, below)
    return pack(edits[path](parts) if path in edits else parts)


def of_record(edits, number):
    """Those of the first record, the invocation, whose paths begin with 0; or those of all others."""
    return {path[1:] if number == 0 else path: edit for path, edit in edits.items() if (path[0] == 0) == (number == 0)}


def rewrite_pb(stream, eras):
    """A decompressed log of protobuf as the eras wrote it."""
    out = bytearray()
    for number, record in enumerate(records(stream)):
        for era in eras:
            record = edit_pb(record, of_record(era.pb, number))
        out += encode(len(record)) + record
    return bytes(out)


# ---- JSON ------------------------------------------------------------------------------

def edit_lines(value, edits, path=()):
    """The same for JSON; arrays are no step of a path."""
    if isinstance(value, list):
        return [edit_lines(v, edits, path) for v in value]
    if not isinstance(value, dict):
        return value
    value = {k: edit_lines(v, edits, (*path, k)) for k, v in value.items()}
    return edits[path](value) if path in edits else value


def rewrite_lines(stream, eras):
    out = []
    for number, line in enumerate(stream.splitlines()):
        record = json.loads(line)
        for era in eras:
            record = edit_lines(record, of_record(era.lines, number))
        out.append(json.dumps(record, separators=(',', ':')))
    return '\n'.join(out).encode() + b'\n'


# ---- edits: of a list of parts, or of a dictionary --------------------------------------------

def drop(*fields):
    def edit(message):
        if isinstance(message, dict):
            return {k: v for k, v in message.items() if k not in fields}
        return [p for p in message if p[0] not in fields]
    return edit


def flags(*numbers):
    """Enums that were booleans: 1 is true, all others were not there."""
    return lambda parts: [p for p in parts if p[0] not in numbers or p[2] == 1]


def flags_in_lines(names):
    def edit(message):
        return {names.get(k, k): v == 1 if k in names else v for k, v in message.items()}
    return edit


def unwrap_command(parts):
    """CommandExecutionKind's oneof stood in the details themselves."""
    out = []
    for number, wire, value in parts:
        if number == 5:
            out += [[{1: 7, 2: 8, 3: 9, 4: 11, 5: 12}[n], w, v] for n, w, v in unpack(value)]
        else:
            out.append([number, wire, value])
    return out


def unwrap_command_in_lines(message):
    kind = message.pop('command_kind', None)
    return {**message, 'command': kind and kind['command']}


def unsigned_code(parts):
    return [[1, 0, p[2] >> 1] if p[0] == 4 else p for p in parts]


def unsigned_code_in_lines(message):
    return {'exit_code' if k == 'signed_exit_code' else k: v for k, v in message.items()}


# ---- the eras ---------------------------------------------------------------------------------

END, LINE_END = (1, 21, 51), ('Event', 'data', 'SpanEnd', 'data', 'ActionExecution')
DETAILS, LINE_DETAILS = (*END, 25, 1), (*LINE_END, 'commands', 'details')
REMOTE, LINE_REMOTE = (*DETAILS, 5, 2), (*LINE_DETAILS, 'command_kind', 'command', 'RemoteCommand')
METADATA, LINE_METADATA = (*DETAILS, 13), (*LINE_DETAILS, 'metadata')
INSTANT, LINE_INSTANT = (1, 22), ('Event', 'data', 'Instant', 'data')


def unknown(_):
    return None


ERAS = [
    Era('2026-04-29', 'whether there was an upload, not how it went',
        {END: flags(30, 36)},
        {LINE_END: flags_in_lines({'cache_upload_result': 'did_cache_upload', 'dep_file_cache_upload_result': 'did_dep_file_cache_upload'})},
        {('action', 'upload_result'): lambda v: v if v == 1 else None, ('action', 'dep_file_upload_result'): lambda v: v if v == 1 else None}),
    Era('2025-09-24', 'no start time in the header', {(0,): drop(4)}, {(0,): drop('start_time')}, {}),
    Era('2025-08', 'no scheduling mode', {END: drop(43)}, {LINE_END: drop('scheduling_mode')}, {('action', 'scheduling_mode'): unknown}),
    Era('2025-02', "no rule's name", {END: drop(41)}, {LINE_END: drop('target_rule_type_name')}, {('action', 'rule_id'): unknown}),
    Era('2024-12', 'no values of buckconfig', {INSTANT: drop(47)}, {LINE_INSTANT: drop('BuckconfigInputValues')}, {}),
    Era('2024-11', 'no memory peak, no words of the server', {DETAILS: drop(14), (*METADATA, 5): drop(5)},
        {LINE_DETAILS: drop('additional_message'), (*LINE_METADATA, 'execution_stats'): drop('memory_peak')},
        {('attempt', 'memory_peak_bytes'): unknown, ('attempt_text', 'message'): unknown}),
    Era('2024-01', "no time in the server's queue", {METADATA: drop(8)}, {LINE_METADATA: drop('queue_duration_us')},
        {('attempt', 'server_queue_us'): unknown}),
    Era('2023-09-29', 'the command in its details, its code beside the older one',
        {DETAILS: unwrap_command}, {LINE_DETAILS: unwrap_command_in_lines}, {}),
    Era('2023-09-14', 'no times of an attempt', {DETAILS: drop(13)}, {LINE_DETAILS: drop('metadata')},
        {('attempt', column): unknown for column in ('wall_us', 'execution_us', 'start_ns', 'input_us', 'server_queue_us')}),
    Era('2023-07-25', 'no details of a remote command', {(*DETAILS, 8): drop(4)},
        {(*LINE_DETAILS, 'command', 'RemoteCommand'): drop('details')},
        {('attempt', 'platform_id'): unknown, ('attempt', 'use_case_id'): unknown}),
    Era('2023-06', 'an unsigned exit code', {DETAILS: unsigned_code}, {LINE_DETAILS: unsigned_code_in_lines}, {}),
]


# ---- what may come -------------------------------------------------------------------------------

KNOWN = [(), (1,), (1, 20), (1, 21), (1, 22), END, (*END, 1), (*END, 1, 2), (*END, 1, 2, 1), (*END, 5), (*END, 25), DETAILS,
         (*DETAILS, 5), REMOTE, METADATA, (1, 20, 50), (1, 20, 54), (1, 20, 54, 20), (1, 22, 4), (1, 22, 4, 5), (2,), (2, 5)]
# A map's members are what it says, and serde writes a oneof as one member, its variant.
NO_MESSAGE = {'metadata', 'data', 'result', 'owner', 'command', 'status', 'error', 'stage', 'entry', 'target'}


NEW = [[4001, 0, 2**63], [4002, 2, b'new \xff'], [4003, 1, b'12345678'], [4004, 2, pack([[1, 2, b'x'], [2, 0, 5]])]]


def add_behind(parts):
    """A number, a text, eight bytes, and a message of its own."""
    return [*parts, *NEW]


def add_around(parts):
    return [*NEW, *parts, *NEW]


def later_pb(stream):
    """The log as a Buck2 might write it that says more: in each message, and in records, events and spans of new kinds."""
    edits = {path: add_around for path in KNOWN}
    spans = [pack([[1, 2, pack([[3, 0, 1 << 40], [data, 2, pack([[3999, 2, pack([[1, 2, b'?']])]])]])]]) for data in (20, 21, 22)]
    new = [pack([[9, 2, b'\x08\x01']]), pack([[1, 2, pack([[3999, 2, b'?']])]]), *spans]
    out = bytearray()
    for number, record in enumerate(records(stream)):
        for written in [edit_pb(record, edits if number else {(): add_behind}), *(new if number % 7 == 0 and number else [])]:
            out += encode(len(written)) + written
    return bytes(out)


def add_members(value, name=None):
    if isinstance(value, list):
        return [add_members(v, name) for v in value]
    if not isinstance(value, dict):
        return value
    value = {k: add_members(v, k) for k, v in value.items()}
    return value if name in NO_MESSAGE else {'a_new': [1, {'b': None}, 'z'], **value, 'z_new': {'deep': [[[]]]}}


def later_lines(stream):
    new = ['{"NewRecord":{"Event":{}}}', *(f'{{"Event":{{"span_id":1099511627776,"data":{{"{data}":{{"data":{{"New":{{"x":1}}}}}}}}}}}}'
                                           for data in ('SpanStart', 'SpanEnd', 'Instant', 'New'))]
    out = []
    for number, line in enumerate(stream.splitlines()):
        out.append(json.dumps(add_members(json.loads(line)), separators=(',', ':')))
        out += new if number % 7 == 0 and number else []
    return '\n'.join(out).encode() + b'\n'

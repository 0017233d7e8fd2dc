"""Reads a Buck2 event log, independently of the program: what tests of the views
need of it, and no more. Field numbers: app/buck2_data/data.proto at e26331d4a2."""
import subprocess


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """{number: [value, ...]} of a message; bytes for length-delimited ones."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = {1: 8, 5: 4}[key & 7]
            value, at = data[at:at + size], at + size
        found.setdefault(key >> 3, []).append(value)
    return found


def sub(message, *path):
    """The message at the end of a path of field numbers; None if a step is absent."""
    for number in path:
        if message is None or number not in message:
            return None
        message = fields(message[number][-1])
    return message


def scalar(message, number, default=None):
    return message[number][-1] if message is not None and number in message else default


def text(message, number):
    value = scalar(message, number)
    return None if value is None else value.decode('utf-8', 'replace')


def nanoseconds(message):
    """Of a Timestamp or Duration."""
    return None if message is None else scalar(message, 1, 0) * 10**9 + scalar(message, 2, 0)


def microseconds(message):
    value = nanoseconds(message)
    return None if value is None else value // 1000


def records(path):
    """Each whole record; an open zstd frame gives what it has."""
    data = subprocess.run(['zstd', '-dcq', path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    at = 0
    while at < len(data):
        size, begin = varint(data, at)
        if begin + size > len(data):
            return
        yield data[begin:begin + size]
        at = begin + size


STATUS = {2: 2, 3: 3, 4: 4, 5: 5, 7: 7, 8: 8}  # field of the oneof -> attempt.status
DIGEST_FIELD = {1: 3, 2: 1, 3: 1, 5: 3}        # attempt.kind -> field of the command's digest


def attempt(command):
    """Columns of attempt, attempt_text and attempt_stderr."""
    details = sub(command, 1)
    kinds = sub(details, 5) or {}
    kind = next(iter(kinds), 0)
    command_of_kind = fields(kinds[kind][-1]) if kind else None
    metadata = sub(details, 13)
    code = scalar(details, 4)
    error = sub(command, 5)
    row = {'kind': kind, 'status': next((s for f, s in STATUS.items() if f in command), 0),
           'digest': text(command_of_kind, DIGEST_FIELD.get(kind)),
           'exit_code': None if code is None else (code >> 1) ^ -(code & 1),
           'start_ns': nanoseconds(sub(metadata, 3)), 'wall_us': microseconds(sub(metadata, 1)),
           'execution_us': microseconds(sub(metadata, 2)), 'message': text(details, 14)}
    if kind == 2:
        hit = scalar(command_of_kind, 2, 0)
        row['cache_hit'] = 0 if not hit else 1 + scalar(command_of_kind, 5, 0)
        row['queue_us'] = microseconds(sub(command_of_kind, 3))
    if row['status'] != 2:
        row |= {'error_stage': text(error, 1), 'error': text(error, 2), 'stderr': text(details, 3)}
    return row


def configured(label):
    """(cell//package:name, configuration)"""
    name = sub(label, 1)
    return f'{text(name, 1)}:{text(name, 2)}', text(sub(label, 2), 2) or ''


def owner(key):
    for number in (2, 5):
        if number in key:
            return configured(sub(key, number))
    if 6 in key:
        name = sub(key, 6, 1)
        return f'{text(name, 1)}:{text(name, 2)}', ''
    return f'{text(sub(key, 4, 1), 1)}:{text(sub(key, 4, 1), 2)}', ''


def action_end(end):
    label, configuration = owner(sub(end, 1))
    names = sub(end, 5)
    return {'type': 1, 'label': label, 'configuration': configuration, 'category': text(names, 1),
            'identifier': text(names, 2), 'kind': scalar(end, 4, 0), 'failed': scalar(end, 6, 0),
            'execution_kind': scalar(end, 22, 0), 'wall_us': microseconds(sub(end, 23)),
            'attempts': [attempt(fields(c)) for c in end.get(25, [])]}


def test_end(end, type, label_path):
    label, configuration = configured(sub(end, *label_path))
    reports = [attempt(fields(c)) for c in end.get(2, [])]
    return {'type': type, 'label': label, 'configuration': configuration, 'kind': None, 'execution_kind': None,
            'failed': int(any(r['status'] != 2 for r in reports)), 'attempts': reports}


STEP_WORD = {102: 1, 104: 1, 105: 1, 106: 1, 107: 2, 108: 2, 109: 1, 113: 1}  # kind -> field of path_step.detail
STEP_TARGET = {100: 1, 107: 1, 108: 1, 110: 10}                              # kind -> field of a configured label


def step_names(kind, entry):
    """Columns of path_step that say whose step it is."""
    if kind in (101, 102) and {2, 3, 4} & entry.keys():
        (number,) = {2, 3, 4} & entry.keys()
        label, configuration = owner({{2: 2, 3: 4, 4: 6}[number]: entry[number]})
    elif STEP_TARGET.get(kind) in entry:
        label, configuration = configured(sub(entry, STEP_TARGET[kind]))
    else:
        label, configuration = None, ''
    row = {'label': label, 'configuration': configuration, 'detail': text(entry, STEP_WORD.get(kind)) or None,
           'rule': text(entry, {100: 2, 101: 6}.get(kind))}
    if kind == 101:
        row |= {'category': text(sub(entry, 1), 1), 'identifier': text(sub(entry, 1), 2), 'digest': text(entry, 7),
                'execution_kind': scalar(entry, 5, 0)}
    return row


def step(message):
    """Columns of path_step."""
    kind = next((number for number in message if number >= 100), None)
    spans = message.get(1, [b''])[0]
    times = {name: microseconds(sub(message, number)) for name, number in (
        ('duration_us', 2), ('user_us', 3), ('total_us', 4), ('potential_us', 5), ('queue_us', 6), ('off_path_us', 7))}
    return {'kind': kind, 'span_id': varint(spans, 0)[0] if spans else None, 'start_off_ns': scalar(message, 8), **times,
            **step_names(kind, fields(message[kind][-1]))}


def build_graph(seq, info):
    """Columns of build_graph; `critical` and `slowest`: of their steps."""
    return {'seq': seq, 'nodes': scalar(info, 3, 0), 'edges': scalar(info, 4, 0),
            'critical': [step(fields(m)) for m in info.get(5, [])], 'slowest': [step(fields(m)) for m in info.get(11, [])]}


def read(path):
    """Dictionary: `actions` in the log's order, each with span_id and seq; `duration_us`, `succeeded`; `graph` or None."""
    found = {'actions': [], 'duration_us': None, 'succeeded': None, 'graph': None}
    for seq, record in enumerate(records(path), 1):
        progress = fields(record)
        if seq == 1:
            continue
        if 2 in progress:
            result = fields(progress[2][-1])
            responses = [fields(v[-1]) for k, v in result.items() if k != 1]
            tests_failed = scalar(sub(result, 9), 1, 0) != 0  # TestResponse.executor_exit_code
            found['succeeded'] = int(1 not in result and not tests_failed and not any(102 in r for r in responses))
            continue
        event = sub(progress, 1)
        info = sub(event, 22, 4)
        if info is not None and not found['graph']:
            found['graph'] = build_graph(seq, info)
        end = sub(event, 21)
        if end is None:
            continue
        if 50 in end:
            found['duration_us'] = microseconds(sub(end, 2))
        row = action_end(sub(end, 51)) if 51 in end else test_end(sub(end, 56), 2, (1, 3)) if 56 in end else \
            test_end(sub(end, 55), 3, (5,)) if 55 in end and sub(end, 55, 5) else None
        if row:
            found['actions'].append({**row, 'span_id': scalar(event, 3), 'seq': seq,
                                     'duration_us': microseconds(sub(end, 2))})
    return found

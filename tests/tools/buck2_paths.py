"""What `buck2 log critical-path` and `buck2 log slowest-path` print of a log, in the format
`tabulated`, after Buck2's own code: app/buck2_cmd_log_client/src/critical_path.rs and
CriticalPathEntryDisplay in app/buck2_event_observer/src/display.rs. Entries without a kind
are not printed; an absent duration is empty, an absent offset 0."""
from read_log import fields, nanoseconds, records, scalar, sub, text

CRITICAL, SLOWEST = 5, 11
# app/buck2_data/data.proto: ActionExecutionKind
EXECUTION_KINDS = {0: 'NOT_SET', 1: 'LOCAL', 2: 'REMOTE', 3: 'ACTION_CACHE', 4: 'SIMPLE', 6: 'DEFERRED', 7: 'LOCAL_DEP_FILE',
                   8: 'LOCAL_WORKER', 9: 'REMOTE_DEP_FILE_CACHE', 10: 'LOCAL_ACTION_CACHE', 11: 'REMOTE_WORKER'}


def target(label):
    return f'{text(sub(label, 1), 1)}:{text(sub(label, 1), 2)} ({text(sub(label, 2), 2) or ""})'


def owner(entry):
    if 2 in entry:
        return target(sub(entry, 2))
    if 3 in entry:
        return f'{text(sub(entry, 3, 1), 1)}:{text(sub(entry, 3, 1), 2)}'
    if 4 in entry:
        return f'{text(sub(entry, 4, 1), 1)}:{text(sub(entry, 4, 1), 2)}@{text(sub(entry, 4), 3)}'
    return 'unknown'


def action(entry):
    kind = EXECUTION_KINDS.get(scalar(entry, 5, 0), 'NOT_SET')
    return 'action', owner(entry), text(sub(entry, 1), 1), text(sub(entry, 1), 2), f'ACTION_EXECUTION_KIND_{kind}'


def display(entry):
    """(kind, name, category, identifier, execution kind); None: not printed."""
    number = next((n for n in entry if n >= 100), None)
    of = fields(entry[number][-1]) if number else {}
    return {
        100: lambda: ('analysis', target(sub(of, 1)) if 1 in of else 'unknown'),
        101: lambda: action(of),
        102: lambda: ('materialization', owner(of), None, text(of, 1)),
        103: lambda: ('compute-critical-path',),
        104: lambda: ('load', text(of, 1)),
        105: lambda: ('listing', text(of, 1)),
        106: lambda: (text(of, 1),),
        107: lambda: ('test-execution', target(sub(of, 1)) if 1 in of else 'unknown'),
        108: lambda: ('test-listing', target(sub(of, 1)) if 1 in of else 'unknown'),
        109: lambda: ('waiting', text(of, 1)),
        110: lambda: ('dynamic_analysis', target(sub(of, 10)) if 10 in of else 'anon-unknown'),
    }.get(number, lambda: None)()


def micros(entry, number):
    value = nanoseconds(sub(entry, number))
    return '' if value is None else str(value // 1000)


def lines(path, which):
    """The lines that Buck2 prints of the log at `path`."""
    found = []
    for record in list(records(path))[1:]:
        info = sub(fields(record), 1, 22, 4)
        for entry in map(fields, (info or {}).get(which, [])):
            shown = display(entry)
            if shown:
                names = [*shown, None, None, None, None][:5]
                found.append('\t'.join([n or '' for n in names] + [micros(entry, n) for n in (4, 3, 5, 7)]
                                       + [str(scalar(entry, 8, 0) // 1000)]))
    return found

"""Bytes with holes, laid out once and filled often: what makes a log of a gigabyte in seconds.

The parts of a template are bytes that stay, and keys that stand for what each
copy makes anew; fill() takes the fresh bytes of every key.
"""
import operator


class Template:
    def __init__(self, parts):
        """`parts`: bytes, or hashable keys; at least two keys."""
        self.keys = {}
        pieces, holes = [b''], []
        for part in parts:
            if isinstance(part, bytes):
                pieces[-1] += part
            else:
                holes.append(self.keys.setdefault(part, len(self.keys)))
                pieces += [None, b'']
        self.pieces, self.pick = pieces, operator.itemgetter(*holes)

    def fill(self, value_of):
        """The copy's bytes; `value_of`: the fresh bytes by key, of all keys at least."""
        values = list(map(value_of.__getitem__, self.keys))
        self.pieces[1::2] = self.pick(values)
        return b''.join(self.pieces)

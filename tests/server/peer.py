"""A server of HTTP/2 that does what a test's script says, frame by frame, and no more: for what
no library lets a server do."""
import contextlib
import socket
import struct
import threading

PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 5, 6, 7, 8, 9
ACK = END_STREAM = 1
END_HEADERS, PADDED = 4, 8
GRPC = [(':status', '200'), ('content-type', 'application/grpc')]
OK = [('grpc-status', '0')]


def frame(kind, flags, stream, payload=b''):
    return struct.pack('>I', len(payload))[1:] + bytes([kind, flags]) + struct.pack('>I', stream) + payload


def number(value, bits):
    """HPACK's integers, RFC 7541 section 5.1."""
    top = (1 << bits) - 1
    if value < top:
        return bytes([value])
    out, value = [top], value - top
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes(out + [value])


def block(fields):
    """Literals that no table keeps, RFC 7541 section 6.2.2."""
    texts = ((name.encode(), value.encode('latin-1')) for name, value in fields)
    return b''.join(b'\0' + number(len(n), 7) + n + number(len(v), 7) + v for n, v in texts)


def message(data, flag=0, length=None):
    return struct.pack('>BI', flag, len(data) if length is None else length) + data


class Connection:
    """With one client. What it sends is read when the script waits for it."""

    def __init__(self, client):
        self.client, self.frames = client, []
        self.windows, self.stream_window = {0: 65535}, 65535

    def exactly(self, count):
        data = b''
        while len(data) < count:
            piece = self.client.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def read(self):
        """The next frame: kind, flags, stream, payload."""
        head = self.exactly(9)
        payload = self.exactly(int.from_bytes(head[:3], 'big'))
        found = head[3], head[4], int.from_bytes(head[5:9], 'big'), payload
        self.frames.append(found)
        self.keep_windows(*found)
        return found

    def keep_windows(self, kind, flags, stream, payload):
        if kind == WINDOW_UPDATE:
            self.windows[stream] = self.windows.get(stream, self.stream_window) + int.from_bytes(payload, 'big')
        if kind == SETTINGS and not flags & ACK:
            settings = dict(struct.iter_unpack('>HI', payload))
            self.stream_window = settings.get(4, self.stream_window)
            self.send(SETTINGS, ACK, 0)

    def spend(self, stream, count):
        """Waits until so many bytes may be sent."""
        while min(self.windows[0], self.windows.setdefault(stream, self.stream_window)) < count:
            self.read()
        for one in (0, stream):
            self.windows[one] -= count

    def wait(self, kind, flags=0):
        """The stream of the next such frame."""
        while True:
            found = self.read()
            if found[0] == kind and found[1] & flags == flags:
                return found[2]

    def request(self):
        """Waits until one is whole; its stream."""
        return self.wait(DATA, END_STREAM)

    def raw(self, data):
        self.client.sendall(data)

    def send(self, kind, flags, stream, payload=b''):
        self.raw(frame(kind, flags, stream, payload))

    def settings(self, **values):
        numbers = {'max_streams': 3, 'window': 4}
        self.send(SETTINGS, 0, 0, b''.join(struct.pack('>HI', numbers[k], v) for k, v in values.items()))

    def headers(self, stream, fields, end=False):
        self.send(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, block(fields))

    def data(self, stream, data):
        self.send(DATA, 0, stream, data)

    def answer(self, stream, data=b'', trailers=OK):
        self.headers(stream, GRPC)
        self.data(stream, message(data))
        self.headers(stream, trailers, end=True)

    def reset(self, stream, error):
        self.send(RST_STREAM, 0, stream, struct.pack('>I', error))

    def goaway(self, last, error=0):
        self.send(GOAWAY, 0, 0, struct.pack('>II', last, error))


class Peer:
    def __init__(self, script, begin=True, tls=None, **settings):
        self.script, self.begin, self.first, self.tls = script, begin, settings, tls
        self.connections, self.faults = [], []
        self.listening = socket.create_server(('127.0.0.1', 0))
        self.address = f'127.0.0.1:{self.listening.getsockname()[1]}'
        self.threads = []

    def __enter__(self):
        self.accepting = threading.Thread(target=self.accept)
        self.accepting.start()
        return self

    def __exit__(self, *why):
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.client.shutdown(socket.SHUT_RDWR)
        self.accepting.join()
        for thread in self.threads:
            thread.join()
        if self.faults and not why[0]:
            raise self.faults[0]

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                self.connections.append(Connection(client))
                self.threads.append(threading.Thread(target=self.serve, args=[self.connections[-1]]))
                self.threads[-1].start()

    def serve(self, connection):
        try:
            if self.tls:
                connection.client = self.tls.wrap_socket(connection.client, server_side=True)
            assert connection.exactly(len(PREFACE)) == PREFACE
            if self.begin:
                connection.settings(**self.first)
            self.script(connection)
        except (EOFError, OSError):
            pass
        except Exception as fault:
            self.faults.append(fault)
        finally:
            connection.client.close()


def each(answer):
    """A script: the same for each request, until the client goes."""
    def script(connection):
        while True:
            answer(connection, connection.request())
    return script

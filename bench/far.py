"""A server some way off: what goes to one on this machine and comes back is passed on late."""
import asyncio
import contextlib
import threading
from collections import deque

CHUNK = 1 << 16


async def pass_on(reader, writer, seconds):
    """Each piece so long after it came, as many as there are under way."""
    loop, pieces, more = asyncio.get_running_loop(), deque(), asyncio.Event()

    async def deliver():
        while True:
            while not pieces:
                more.clear()
                await more.wait()
            due, data = pieces.popleft()
            await asyncio.sleep(due - loop.time())
            if not data:
                return writer.close()
            writer.write(data)

    delivering = asyncio.create_task(deliver())
    data = True
    while data:
        data = await reader.read(CHUNK)
        pieces.append((loop.time() + seconds, data))
        more.set()
    await delivering


async def relay(port, milliseconds, begun, ended):
    """Half of the milliseconds on the way there, half on the way back."""
    async def take(reader, writer):
        there = await asyncio.open_connection('127.0.0.1', port)
        with contextlib.suppress(ConnectionError):
            await asyncio.gather(pass_on(reader, there[1], milliseconds / 2000), pass_on(there[0], writer, milliseconds / 2000))

    async with await asyncio.start_server(take, '127.0.0.1', 0) as server:
        begun(server.sockets[0].getsockname()[1], asyncio.get_running_loop())
        await ended.wait()


@contextlib.contextmanager
def away(address, milliseconds):
    """The address under which the server is so far away."""
    ended, found, begun = asyncio.Event(), [], threading.Event()

    def begin(*what):
        found.extend(what)
        begun.set()

    thread = threading.Thread(target=asyncio.run, args=[relay(int(address.rsplit(':', 1)[1]), milliseconds, begin, ended)])
    thread.start()
    begun.wait()
    port, loop = found
    try:
        yield f'127.0.0.1:{port}'
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()

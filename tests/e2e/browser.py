"""Headless Chromium, spoken to over its DevTools pipe: needs no port, no driver, no network."""
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

# A busy machine starts a browser slowly.
PATIENCE_S = 180


class Browser:
    """One browser; each open() is a fresh tab, of which `problems` holds what its console said."""

    def __init__(self):
        program = shutil.which('chromium')
        assert program, 'chromium is not here: scripts/setup --test installs it'
        self.folder = tempfile.mkdtemp(prefix='br2-chromium-')
        to_read, self.to = os.pipe()
        self.source, from_write = os.pipe()
        # The pipe is file descriptors 3 and 4 of the browser; as root it has no sandbox.
        self.process = subprocess.Popen(
            ['bash', '-c', f'exec "$@" 3<&{to_read} 4>&{from_write}', 'bash', program, '--headless=new', '--no-sandbox',
             '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking', '--no-first-run',
             '--remote-debugging-pipe', f'--user-data-dir={self.folder}', 'about:blank'],
            pass_fds=(to_read, from_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, 'HOME': self.folder})
        os.close(to_read)
        os.close(from_write)
        self.number = 0
        self.messages = []
        self.arrived = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        rest = b''
        while data := os.read(self.source, 1 << 16):
            *whole, rest = (rest + data).split(b'\0')
            with self.arrived:
                self.messages += [json.loads(m) for m in whole]
                self.arrived.notify_all()

    def wait(self, wanted, what):
        """The first message that `wanted` is true of."""
        deadline = time.monotonic() + PATIENCE_S
        with self.arrived:
            while not (found := [m for m in self.messages if wanted(m)]):
                assert self.process.poll() is None, 'chromium ended'
                assert time.monotonic() < deadline, f'chromium does not answer: {what}'
                self.arrived.wait(1)
            return found[0]

    def call(self, method, session=None, **params):
        self.number += 1
        number = self.number
        message = {'id': number, 'method': method, 'params': params}
        if session:
            message['sessionId'] = session
        os.write(self.to, json.dumps(message).encode() + b'\0')
        answer = self.wait(lambda m: m.get('id') == number, method)
        assert 'error' not in answer, f'{method}: {answer["error"]}'
        return answer['result']

    def open(self, path, width, scheme):
        return Page(self, path, width, scheme)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        shutil.rmtree(self.folder, ignore_errors=True)


class Page:
    """A file in a tab of `width` pixels and a colour scheme, loaded."""

    def __init__(self, browser, path, width, scheme):
        self.browser = browser
        target = browser.call('Target.createTarget', url='about:blank')['targetId']
        self.session = browser.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(f'{domain}.enable')
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=800, deviceScaleFactor=1, mobile=False)
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        self.url = path.resolve().as_uri()
        self.call('Page.navigate', url=self.url)
        browser.wait(lambda m: self.is_event(m, 'Page.loadEventFired'), 'load')

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def is_event(self, message, *methods):
        return message.get('sessionId') == self.session and message.get('method') in methods

    def events(self, *methods):
        with self.browser.arrived:
            return [m['params'] for m in self.browser.messages if self.is_event(m, *methods)]

    def value(self, expression):
        """What the expression is in the page, which itself has no script."""
        answer = self.call('Runtime.evaluate', expression=expression, returnByValue=True)
        assert 'exceptionDetails' not in answer, answer
        return answer['result'].get('value')

    def problems(self):
        """All that the console said, and requests for anything but the file itself."""
        asked = [p['request']['url'] for p in self.events('Network.requestWillBeSent')]
        return self.events('Log.entryAdded', 'Runtime.consoleAPICalled', 'Runtime.exceptionThrown', 'Page.javascriptDialogOpening') + [
            url for url in asked if url != self.url]

    def table(self, section):
        """Rows of the section's first table: {heading: text}, as shown."""
        heads, rows = self.value(f'''(() => {{
            const table = document.querySelector("#{section} table");
            const texts = cells => [...cells].map(c => c.textContent);
            return [texts(table.tHead.rows[0].cells), [...table.tBodies[0].rows].map(r => texts(r.cells))];
        }})()''')
        return [dict(zip(heads, row, strict=True)) for row in rows]

"""Opens a page of `draftlab report --html` in headless Chromium, uses it as a reader would, and
fails on any script error.

    /usr/bin/python3 tests/analysis/browser.py PAGE.html [--pictures FOLDER]
    /usr/bin/python3 tests/analysis/browser.py --made-by TEST_PROGRAM

It speaks the DevTools protocol through a pipe and needs nothing but Python and Chromium. It exits
with 77 where there is no Chromium.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
# Seconds of processor time of the page's thread for a frame in which all panes scroll, drawn
# without a graphics card.
FRAME_LIMIT = 0.033


def profile():
    """A folder for Chromium, whose children may write into it for a moment after they are told to
    end: what they leave there is no fault of the page."""
    return tempfile.TemporaryDirectory(ignore_cleanup_errors=True)


class Browser:
    def __init__(self, folder):
        program = next(
            (p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p),
            None,
        )
        if not program:
            print("skipped: there is no Chromium here (Debian: apt-get install chromium)")
            sys.exit(SKIPPED)
        theirs_in, self.out = os.pipe()
        self.input, theirs_out = os.pipe()

        def place():  # Chromium reads commands from 3 and writes answers to 4
            spare = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        self.process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
                "--no-first-run",
                "--window-size=1400,1000",
                f"--user-data-dir={folder}/profile",
                "about:blank",
            ],
            preexec_fn=place,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.number, self.buffer, self.errors, self.requests, self.session = 0, b"", [], [], None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in "Page", "Runtime", "Log", "Network":
            self.send(domain + ".enable")
        self.send(
            "Performance.enable", timeDomain="threadTicks"
        )  # This is processor time, so other work on the machine does not count.

    def message(self):
        while b"\0" not in self.buffer:
            part = os.read(self.input, 1 << 20)
            if not part:
                raise RuntimeError("Chromium ended")
            self.buffer += part
        text, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(text)
        method, said = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            detail = said["exceptionDetails"]
            self.errors.append(detail.get("exception", {}).get("description", detail["text"]))
        elif method == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.errors.append(said["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
        return message

    def send(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.out, json.dumps(command).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]

    def open(self, path):
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        while self.message().get("method") != "Page.loadEventFired":
            pass

    def run(self, script):
        answer = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(
                answer["exceptionDetails"]["exception"].get("description", "script failed")
                + "\n"
                + script
            )
        return answer["result"].get("value")

    def mouse(self, kind, x, y):
        click = {"button": "left", "clickCount": 1} if kind != "mouseMoved" else {}
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **click)

    def hover(self, selector, dx=0.5, dy=0.5):
        """Moves the pointer to a share of an element's box."""
        self.run(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}})")
        x, y, wide, high = self.run(
            f"(b => [b.x, b.y, b.width, b.height])(document.querySelector({selector!r})."
            f"getBoundingClientRect())"
        )
        self.mouse("mouseMoved", x + dx * wide, y + dy * high)
        return x + dx * wide, y + dy * high

    def click(self, selector):
        x, y = self.hover(selector)
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)

    def key(self, name):
        for kind in "rawKeyDown", "keyUp":
            self.send(
                "Input.dispatchKeyEvent",
                type=kind,
                key=name,
                code=name,
                windowsVirtualKeyCode={"ArrowDown": 40, "ArrowRight": 39, "Tab": 9, "End": 35}[
                    name
                ],
            )

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(
                base64.b64decode(
                    self.send("Page.captureScreenshot", captureBeyondViewport=True)["data"]
                )
            )

    def close(self):
        self.process.terminate()
        self.process.wait()


ROWS = "[...document.querySelectorAll('#table tbody tr')].map(r => Number(r.dataset.arm))"
TIP = "document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText"


def settle(browser):
    browser.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def column(browser, name):
    at = browser.run(
        f"[...document.querySelectorAll('#table th')].findIndex(h => h.innerText.trim()."
        f"startsWith({name!r}))"
    )
    assert at > 0, f"no column {name}"
    return browser.run(
        f"[...document.querySelectorAll('#table tbody tr')].map(r => parseFloat(r."
        f"children[{at}].innerText))"
    )


def check_table(browser):
    arms = browser.run(ROWS)
    assert len(arms) >= 2, arms
    name = browser.run("document.querySelector('#table th:not(.text) button').dataset.column")
    button = f"#table th button[data-column={json.dumps(name)}]"
    browser.click(button)
    up = column(browser, name)
    assert up == sorted(up), up
    browser.click(button)
    down = column(browser, name)
    assert down == sorted(up, reverse=True), down
    assert browser.run(f"document.querySelector({button!r}).closest('th').ariaSort") == "descending"
    middle = sorted(up)[len(up) // 2]
    kept = sum(value < middle for value in up)
    type_into(browser, "#filter", f"{name.replace(' ', '_')}<{middle}")
    assert len(browser.run(ROWS)) == kept, (browser.run(ROWS), up, middle)
    assert browser.run("document.querySelectorAll('#plot .point').length") <= kept
    type_into(browser, "#filter", "")
    assert sorted(browser.run(ROWS)) == sorted(arms)


def type_into(browser, selector, text):
    browser.run(
        f"(e => {{ e.focus(); e.value = {text!r}; "
        "e.dispatchEvent(new Event('input', {bubbles: true})); })"
        f"(document.querySelector({selector!r}))"
    )


def check_plot(browser):
    browser.hover("#plot .point")
    arm = browser.run("Number(document.querySelector('#plot .point').dataset.arm)")
    label = browser.run(
        "document.querySelector('#plot .point').getAttribute('aria-label').split(',')[0]"
    )
    assert label in browser.run(TIP), browser.run(TIP)
    hot = browser.run(
        "[...document.querySelectorAll('#table tr.hot')].map(row => Number(row.dataset.arm))"
    )
    # Arms whose marks cover each other are named together.
    assert arm in hot and len(hot) == 1 + browser.run(TIP).count("also here: "), hot
    browser.mouse("mouseMoved", 2, 2)
    assert browser.run(TIP) == ""
    browser.run("document.querySelector('#plot .point').focus()")  # The keyboard shows the same.
    assert label in browser.run(TIP)
    browser.run("document.activeElement.blur()")


def check_viewer(browser):
    panes = browser.run("document.querySelectorAll('.pane').length")
    assert panes == min(8, len(browser.run(ROWS))), panes
    settle(browser)
    inked = browser.run(
        "[...document.querySelectorAll('.pane canvas')].map(c => c.getContext('2d')."
        "getImageData(0, 0, c.width, c.height).data.some(v => v))"
    )
    assert all(inked), inked
    said = set()
    for across in 0.3, 0.5, 0.7:
        for down in 0.1, 0.2, 0.3:
            browser.hover(".box", across, down)
            said.add(browser.run(TIP))
    assert any(
        "position" in text and "router:" in text and "stopped:" in text for text in said
    ), said
    # Keys walk over the cells and meet a committed token with its probability.
    browser.run("document.querySelector('.box').focus()")
    lines = set()
    for _ in range(40):
        browser.key("ArrowDown")
        for _ in range(3):
            browser.key("ArrowRight")
        lines.add(browser.run(TIP))
    assert len(lines) > 20, lines
    assert browser.run("document.querySelector('.pane [aria-live]').innerText") != ""
    before = browser.run("document.querySelector('.decoded').innerText")
    browser.click("#after")
    assert browser.run("document.getElementById('prompt').value") == "1"
    assert browser.run("document.querySelector('.decoded').innerText") != before
    browser.run(
        "(e => { e.value = '0'; e.dispatchEvent(new Event('change')); })(document."
        "getElementById('prompt'))"
    )
    assert browser.run("document.querySelector('.decoded').innerText") == before
    browser.run("(e => { e.click(); })(document.querySelector('#table tbody input'))")
    assert browser.run("document.querySelectorAll('.pane').length") == panes - 1
    browser.run("(e => { e.click(); })(document.querySelector('#table tbody input'))")
    for colour in "confidence", "p", "q", "source":
        browser.run(
            f"(e => {{ e.value = {colour!r}; e.dispatchEvent(new Event('change')); }})("
            f"document.getElementById('colour'))"
        )
        settle(browser)


def check_theme(browser):
    paper = browser.run("getComputedStyle(document.body).backgroundColor")
    browser.click("#theme")
    assert browser.run("getComputedStyle(document.body).backgroundColor") != paper
    browser.click("#theme")
    assert browser.run("getComputedStyle(document.body).backgroundColor") == paper


# All panes scroll a little at every frame.
SCROLL = """new Promise(done => {
  const boxes = [...document.querySelectorAll('.box')], work = [];
  let frames = 0;
  const step = () => {
    const begun = performance.now();
    for (const box of boxes) { box.scrollTop = (frames * 17) % 400;
      box.scrollLeft = (frames * 23) % 300; }
    requestAnimationFrame(() => {
      work.push(performance.now() - begun);
      ++frames < 60 ? step() : done(work);
    });
  };
  step();
})"""
SWITCH = """new Promise(done => {
  const prompt = document.getElementById('prompt'), work = [];
  let at = 0;
  const step = () => {
    prompt.value = at % prompt.options.length;
    const begun = performance.now();
    prompt.dispatchEvent(new Event('change'));
    requestAnimationFrame(() => { work.push(performance.now() - begun);
      ++at < 20 ? step() : done(work); });
  };
  step();
})"""


def measure(browser):
    browser.run("document.getElementById('panes').scrollIntoView()")
    zoom = (
        "(e => {{ e.value = {}; e.dispatchEvent(new Event('input')); }})(document."
        "getElementById('zoom'))"
    )
    browser.run(zoom.format(24))  # Tokens are spelled out.
    settle(browser)
    scroll, clock = busy(browser, SCROLL)
    switch, _ = busy(browser, SWITCH)
    browser.run(zoom.format(2))
    return scroll, clock, switch


def busy(browser, script):
    """Processor time of the page's thread, and time on the clock, a frame."""
    used = lambda: next(
        m["value"]
        for m in browser.send("Performance.getMetrics")["metrics"]
        if m["name"] == "TaskDuration"
    )
    before = used()
    frames = sorted(browser.run(script))
    return (used() - before) / len(frames), frames[len(frames) // 2] / 1000


def check(page, pictures=None):
    size = os.path.getsize(page)
    with profile() as folder:
        browser = Browser(folder)
        try:
            begun = time.time()
            browser.open(page)
            opened = time.time() - begun
            for part in check_table, check_plot, check_viewer, check_theme:
                part(browser)
            frame, clock, switch = measure(browser)
            if pictures:
                os.makedirs(pictures, exist_ok=True)
                browser.run("scrollTo(0, 0)")
                browser.picture(pictures + "/page-light.png")
                browser.click("#theme")
                browser.run(
                    "(e => { e.value = 24; e.dispatchEvent(new Event('input')); })("
                    "document.getElementById('zoom'))"
                )
                settle(browser)
                browser.hover(".box", 0.4, 0.3)
                browser.picture(pictures + "/page-dark.png")
            assert not browser.errors, browser.errors
            outside = [
                url for url in browser.requests if not url.startswith(("file:", "about:", "data:"))
            ]
            assert not outside, outside
        finally:
            browser.close()
    print(
        f"{size / 1e6:.2f} MB, opened in {opened:.2f} s, a frame of all panes "
        f"{1000 * frame:.1f} ms "
        f"of processor time ({1000 * clock:.1f} on the clock), another prompt "
        f"{1000 * switch:.1f} ms"
    )
    assert frame < FRAME_LIMIT, frame


def main(words):
    if words[0] == "--made-by":
        with profile() as folder:
            page = folder + "/page.html"
            Browser(folder).close()  # Without Chromium there is nothing to do.
            subprocess.run(
                [words[1], "-ts=page"],
                env={**os.environ, "DRAFTLAB_PAGE": page},
                check=True,
                stdout=subprocess.DEVNULL,
            )
            check(page)
    else:
        check(words[0], words[2] if words[1:2] == ["--pictures"] else None)


main(sys.argv[1:])

"""Take the pictures of the page in docs/images: python tools/screenshots.py [FOLDER]

Asks the real server over the examples, in light, dark and on a phone. Needs the extras `serve` and `dev`, and chromium
(`apt-get install chromium`, or LONGFORM_CHROMIUM).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import sync_playwright

from longform import Index, read
from longform.serve import create_app
from longform.serve.settings import Settings, named_indexes

ROOT = Path(__file__).parent.parent
QUESTION = "Who was the king of France in 1830?"
WIDE = {"viewport": {"width": 1200, "height": 780}, "device_scale_factor": 1.1}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server over the examples, while it runs."""
    os.chdir(ROOT)  # so that sources are named as a reader of the repository knows them
    Index.create(folder / "examples.index", read("examples/pages"))
    settings = Settings(indexes=named_indexes([folder / "examples.index"]), home=folder / "home")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(create_app(settings), port=port, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            sys.exit("The server did not start.")
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}/"
    server.should_exit = True
    thread.join()


def asked(browser: Any, url: str, **options: Any) -> Any:
    """A page with an answer on it."""
    page = browser.new_context(reduced_motion="reduce", **options).new_page()
    page.set_default_timeout(120_000)
    page.goto(url)
    page.wait_for_selector("#collection option", state="attached")
    page.fill("#question", QUESTION)
    page.press("#question", "Enter")
    page.wait_for_selector('[data-state="whole"]')
    page.evaluate("document.activeElement.blur()")
    return page


def main() -> None:
    """Take the three pictures."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    target = target.resolve()
    chromium = os.environ.get("LONGFORM_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("There is no chromium: apt-get install chromium, or set LONGFORM_CHROMIUM.")
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage", "--font-render-hinting=none"]
        )
        light = asked(browser, url, color_scheme="light", **WIDE)
        light.hover("button.cite >> nth=2")
        light.wait_for_selector("#popover:visible")
        light.screenshot(path=target / "page-light.png")
        dark = asked(browser, url, color_scheme="dark", **WIDE)
        dark.check("#changes")
        dark.screenshot(path=target / "page-dark.png")
        phone = asked(browser, url, color_scheme="light", **PHONE)
        phone.screenshot(path=target / "page-phone.png")
        browser.close()
    for name in ("page-light.png", "page-dark.png", "page-phone.png"):
        print(f"{target / name}: {(target / name).stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()

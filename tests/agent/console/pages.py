"""A person at the console's pages: logs in, presses keys, reads the screen."""

from contextlib import asynccontextmanager

from tests.agent.chromium import chromium

_KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowRight": 39}

# Text whose contrast with what is behind it is under 4.5 (3 where it is large): WCAG 2.2, 1.4.3.
PALE = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((of) => of / 255).map(
      (of) => of <= 0.04045 ? of / 12.92 : ((of + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const pale = [];
  for (const element of document.querySelectorAll("body *")) {
    const says = [...element.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
    if (!says || !element.checkVisibility() || element.closest(":disabled, .unseen")) continue;
    const style = getComputedStyle(element);
    const [one, other] = [light(rgba(style.color)), light(behind(element))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const large = parseFloat(style.fontSize) >= 24;
    if (ratio < (large ? 3 : 4.5)) pale.push(`${element.textContent.trim()} ${ratio.toFixed(2)}`);
  }
  return pale;
})()"""

READY = "!document.querySelector('main[aria-busy]') && document.readyState === 'complete'"


@asynccontextmanager
async def at_the_console(served, folder, path="/"):
    """A browser that followed the login link, and then is at ``path``."""
    async with chromium(folder) as page:
        await page.open("about:blank")
        await log_in(page, served, next_page=path)
        await comes_to(page, path)
        yield page


async def log_in(page, served, *, next_page):
    """Follow the login link."""
    await page.send("Page.navigate", url=f"{served.url}/login?next={next_page}#{served.token}")


async def comes_to(page, path):
    """Wait until the page at ``path`` shows what it has."""
    while True:
        try:
            return await page.until(f"location.pathname === {path!r} && {READY}")
        except AssertionError as gone:  # what was asked was the page before
            if "navigated" not in str(gone) and "collected" not in str(gone):
                raise


async def go(page, served, path):
    """Open another page, once it shows what it has."""
    await page.open(served.url + path)
    await page.until(READY)


async def press(page, key, times=1):
    """Press a key; Enter also says what it types, as a real one does."""
    more = {"text": "\r"} if key == "Enter" else {}
    for _ in range(times):
        for kind in ("keyDown", "keyUp"):
            given = more if kind == "keyDown" else {}
            code = _KEYS[key]
            await page.send(
                "Input.dispatchKeyEvent",
                type=kind, key=key, code=key, windowsVirtualKeyCode=code, **given,
            )  # fmt: skip


async def tab_to(page, selector, most=80):
    """Press Tab until an element that ``selector`` names has the focus."""
    for _ in range(most):
        await press(page, "Tab")
        if await page.value(f"document.activeElement.matches({selector!r})"):
            return
    raise AssertionError(f"Tab does not reach {selector}")


async def text(page, selector):
    """What an element says, as it is shown."""
    return await page.value(f"document.querySelector({selector!r}).innerText")


async def nameless(page):
    """Controls for which a screen reader has no name."""
    await page.send("Accessibility.enable")
    tree = (await page.send("Accessibility.getFullAXTree"))["nodes"]
    controls = {"button", "link", "textbox", "searchbox", "combobox", "slider", "radio", "dialog"}
    return [
        node["nodeId"]
        for node in tree
        if not node["ignored"]
        and node["role"]["value"] in controls
        and not node.get("name", {}).get("value", "").strip()
    ]

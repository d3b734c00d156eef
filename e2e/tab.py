"""One tab on the product's page, used as a person uses it."""

import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlencode

from playwright.sync_api import Browser, ConsoleMessage, Page, Route

from e2e.capture import Capture, Tap

PATIENCE_MILLISECONDS: Final = 60_000
_SPEECH: Final = "**/v1/audio/speech"
_EVENTS: Final = "**/v1/audio/speech/*/events"


class Tab:
    """A tab in a context of its own, with whatever the page complained about in its console."""

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:  # noqa: ANN401 - Playwright's own
        """Open an empty tab for the site at `address`; `options` are Playwright's for a context."""
        self._context: Final = browser.new_context(base_url=address, **options)
        self._context.set_default_timeout(PATIENCE_MILLISECONDS)
        self.page: Final[Page] = self._context.new_page()
        self.complaints: Final[list[str]] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def __enter__(self) -> Self:
        """Give the tab itself."""
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def open(self, text: str = "", *, voice: str = "", audio_format: str = "") -> None:
        """Load the page with the form filled in."""
        fields = {"input": text, "voice": voice, "response_format": audio_format}
        query = urlencode({name: value for name, value in fields.items() if value})
        self.page.goto(f"/?{query}" if query else "/")
        self.page.locator("html.ready").wait_for()

    def press(self, button: str) -> None:
        """Click the button of that name."""
        self.page.get_by_role("button", name=button, exact=True).click()

    def wait_for_status(self, words: str) -> None:
        """Wait until the status line says `words`."""
        self.page.get_by_role("status").filter(has_text=words).wait_for()

    def override(self, **fields: float) -> None:
        """Send `fields` with the page's request, in place of its own."""

        def amend(route: Route) -> None:
            body = json.loads(route.request.post_data or "{}")
            route.continue_(post_data=json.dumps({**body, **fields}))

        self.page.route(_SPEECH, amend)

    def hide_priming(self) -> None:
        """Answer the page without what the server declares about priming."""

        def strip(route: Route) -> None:
            answer = route.fetch()
            headers = {
                name: value
                for name, value in answer.headers.items()
                if name != "x-audio-priming-samples"
            }
            route.fulfill(response=answer, headers=headers)

        self.page.route(_SPEECH, strip)

    def tell_instead(self, name: str, fields: Mapping[str, Any]) -> None:
        """Answer the page with one event, whatever happens to its speech."""
        body = f"event: {name}\ndata: {json.dumps(fields)}\n\nevent: done\ndata: {{}}\n\n"
        self.page.route(
            _EVENTS, lambda route: route.fulfill(body=body, content_type="text/event-stream")
        )

    def tell_nothing(self) -> None:
        """Answer the page that its speech has no events."""
        self.page.route(_EVENTS, lambda route: route.fulfill(status=204))

    def close(self) -> None:
        """Close the tab, as a person does who has heard enough."""
        self._context.close()

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)


class ListeningTab(Tab):
    """A tab whose sound is captured at `rate` Hz."""

    def __init__(self, browser: Browser, address: str, *, rate: int) -> None:
        """Open an empty tab with a tap; the tap's worklet is nothing that the page's CSP allows."""
        super().__init__(browser, address, bypass_csp=True)
        self.tap: Final = Tap(self.page, rate)

    def open(self, text: str = "", *, voice: str = "", audio_format: str = "") -> None:
        """Load the page with the form filled in, and tap its sound."""
        super().open(text, voice=voice, audio_format=audio_format)
        self.tap.attach()

    def play_to_the_end(self) -> Capture:
        """Press Play and give all that was heard until the end."""
        self.press("Play")
        return self.tap.finish()

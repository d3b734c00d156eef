"""Sends a server names that are paths and addresses, and prints what it opened meanwhile, as JSON.

A program of its own, since an audit hook stays for as long as its process.
"""

import json
import sys
from http.client import HTTPConnection
from typing import Any, Final
from urllib.parse import quote, urlsplit

from app.main import create_app
from app.settings import Settings
from tests.serving import serving
from tests.voices import ToneEngine

EVENTS: Final = {
    *("open", "os.listdir", "os.scandir", "os.exec", "os.posix_spawn", "os.system"),
    *(
        "subprocess.Popen",
        "socket.connect",
        "socket.getaddrinfo",
        "urllib.Request",
        "ctypes.dlopen",
    ),
}

TRAVERSALS: Final = (
    *("../app/main.py", "..%2fapp%2fmain.py", "%2e%2e/app/main.py", "%2e%2e%2fapp%2fmain.py"),
    *("..%252fapp%252fmain.py", "..%5capp%5cmain.py", "..\\app\\main.py", "....//app/main.py"),
    *("/etc/passwd", "//etc/passwd", "%2fetc%2fpasswd", "%2f%2fetc%2fpasswd", "C:%5cx"),
    *("js/../../app/main.py", "js/%2e%2e/%2e%2e/app/main.py", "css%2f..%2f..%2fpyproject.toml"),
    *("icon.svg%00", "icon.svg%00.js", "%00", "..%00/app/main.py", "%c0%ae%c0%ae/app/main.py"),
    *("%ff", "~root/.profile", "file:///etc/passwd", ".", "..", "js", "js/", "%0d%0aX:%20y"),
    *("a" * 300, "a/" * 3_000, "icon.svg/x", "icon.svg/../icon.svg/..%2f..%2fREADME.md"),
)

NAMES: Final = (
    *(
        "../../../../etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        "..\\..\\x",
        "C:\\x",
        "\\\\h\\x",
    ),
    *("http://127.0.0.1:9/voice.onnx", "https://example.org/x", "data:audio/wav;base64,AAAA"),
    *("a\0b", "/dev/stdin", "~/.ssh/id_rsa", "a/../b", "hf://org/model", "pyproject.toml"),
)


def send_paths(port: int, prefix: str) -> dict[str, int]:
    """Ask for files that are none of static/, by GET and HEAD; gives statuses."""
    return {
        f"{method} {target}": ask(port, method, target)
        for traversal in TRAVERSALS
        for target in (f"{prefix}/{traversal}", f"/static/{traversal}")
        for method in ("GET", "HEAD")
    }


def send_names(port: int) -> dict[str, int]:
    """Name models, voices and formats that are paths and addresses; gives statuses."""
    statuses = {}
    for name in NAMES:
        for field in ("model", "voice", "response_format"):
            body = {"input": "one", field: name}
            statuses[f"POST {field} {name}"] = ask(port, "POST", "/v1/audio/speech", body)
            query = f"/v1/audio/speech?input=one&{field}={quote(name)}"
            statuses[f"GET {field} {name}"] = ask(port, "GET", query)
        named = {"input": "one", "voice": {"id": name}}
        statuses[f"POST voice.id {name}"] = ask(port, "POST", "/v1/audio/speech", named)
    return statuses


def ask(port: int, method: str, target: str, body: object = None) -> int:
    """Send a request whose target nobody tidies up; gives the status."""
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest(method, target, skip_accept_encoding=True)
    payload = b"" if body is None else json.dumps(body).encode()
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(len(payload)))
    connection.endheaders(payload)
    status = connection.getresponse().status
    connection.close()
    return status


def main() -> None:
    """Serve, warm up, then record."""
    recorded: list[tuple[str, str]] = []
    is_recording = False

    def record(event: str, arguments: tuple[Any, ...]) -> None:
        if is_recording and event in EVENTS:
            recorded.append((event, repr(arguments[:2])))

    sys.addaudithook(record)
    app = create_app(Settings(speeches_per_minute=0), load=lambda _: [ToneEngine()])
    with serving(app) as url:
        port = urlsplit(url).port or 0
        prefix = app.state.static_prefix
        for target in ("/", f"{prefix}/icon.svg", "/v1/audio/speech?input=one", "/nowhere"):
            ask(port, "GET", target)
        is_recording = True
        # What is looked for is seen: this one may be opened.
        allowed = ask(port, "GET", f"{prefix}/icon.svg")
        paths, names = send_paths(port, prefix), send_names(port)
        is_recording = False
    own = repr(("127.0.0.1", port))
    opened = [(event, what) for event, what in recorded if own not in what]
    print(json.dumps({"allowed": allowed, "paths": paths, "names": names, "opened": opened}))  # noqa: T201 - its output


if __name__ == "__main__":
    main()

"""Another server's answer is read as it comes, and what goes wrong on the way is said."""

import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from tests.audit.auditing import SOUND, Auditor, make_bad, make_good


class Speaker(BaseHTTPRequestHandler):
    """A speech server with all the faults that one can have; `asked` keeps its requests."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar[list[tuple[str, str, bytes, str | None]]] = []

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.answer(b"")

    def do_POST(self) -> None:
        self.answer(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, data: bytes) -> None:
        self.asked.append((self.command, self.path, data, self.headers["Authorization"]))
        getattr(self, f"send_{self.path.strip('/').partition('?')[0]}")()
        self.close_connection = True

    def send_good(self) -> None:
        self.send_chunks(make_good("mp3"))

    def send_bad(self) -> None:
        self.send_chunks(make_bad("mp3"))

    def send_pcm(self) -> None:
        self.send_chunks(make_good("pcm"), kind="audio/pcm")

    def send_chunks(self, body: bytes, kind: str = "audio/mpeg", *, end: bool = True) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for start in range(0, len(body), 3_001):
            piece = body[start : start + 3_001]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n" if end else b"")

    def send_aborted(self) -> None:
        self.send_chunks(make_good("mp3"), end=False)

    def send_short(self) -> None:
        body = make_good("mp3")
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) + 192))
        self.end_headers()
        self.wfile.write(body)

    def send_refusal(self) -> None:
        body = b'{"error": {"message": "no such\\nvoice"}}'
        self.send_response(404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_away(self) -> None:
        self.send_response(302)
        self.send_header("Location", "file:///etc/hostname")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send_nothing(self) -> None:
        self.rfile.read(1)


@pytest.fixture(scope="module")
def server() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Speaker) as speaker:
        thread = threading.Thread(target=speaker.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{speaker.server_port}"
        speaker.shutdown()
        thread.join()


@pytest.mark.parametrize(("path", "status"), [("good", 0), ("bad", 1), ("pcm", 0)])
def test_a_servers_answer_is_judged(auditor: Auditor, server: str, path: str, status: int) -> None:
    assert auditor.run(f"{server}/{path}?voice=joe").status == status
    assert Speaker.asked[-1][:2] == ("GET", f"/{path}?voice=joe")


def test_a_sample_cut_in_two_on_the_way_is_whole_again(auditor: Auditor, server: str) -> None:
    audit = auditor.judge(make_good("pcm"), "--format", "pcm", "--json", against=SOUND)
    answer = auditor.run(
        f"{server}/pcm", "--json", "--against", str(auditor.folder / "reference.wav")
    )
    assert answer.document == audit.document


def test_data_is_posted_as_json_with_the_headers(auditor: Auditor, server: str) -> None:
    words = (f"{server}/good", "--header", "Authorization: Bearer key")
    assert auditor.run(*words, "--data", '{"input": "Hello"}').status == 0
    assert Speaker.asked[-1] == ("POST", "/good", b'{"input": "Hello"}', "Bearer key")
    file = auditor.write(b'{"input": "Hello again"}')
    assert auditor.run(*words, "--data", f"@{file}").status == 0
    assert b"again" in Speaker.asked[-1][2]
    assert auditor.run(*words, "--data", "@").status == 2


@pytest.mark.parametrize("path", ["aborted", "short"])
def test_an_answer_that_breaks_off_is_torn(auditor: Auditor, server: str, path: str) -> None:
    audit = auditor.run(f"{server}/{path}")
    assert audit.status == 1
    assert "broke off" in audit.verdict


def test_a_refusal_is_quoted_in_one_line(auditor: Auditor, server: str) -> None:
    audit = auditor.run(f"{server}/refusal")
    assert (audit.status, audit.err.count("\n")) == (2, 1)
    assert "404" in audit.err
    assert "no such" in audit.err


def test_no_redirect_leads_to_a_file(auditor: Auditor, server: str) -> None:
    audit = auditor.run(f"{server}/away")
    assert (audit.status, audit.out) == (2, "")


def test_a_server_that_says_nothing_is_given_up(auditor: Auditor, server: str) -> None:
    audit = auditor.run(f"{server}/nothing", "--timeout", "0.1")
    assert audit.status == 2
    assert "in time" in audit.err


def test_a_server_that_is_not_there_is_told_in_one_line(auditor: Auditor) -> None:
    audit = auditor.run("http://127.0.0.1:1/good")
    assert (audit.status, audit.err.count("\n")) == (2, 1)

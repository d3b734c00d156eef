"""The command `audit`: tells whether what a server sent is one gapless container.

Exit status: 0 for one gapless container; 1 when it is not one (more containers, a torn or damaged
body, or, against a reference, sound that was inserted, lost, disturbed or never heard); 2 when
there is nothing to judge, since the body or the reference cannot be read.
"""

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from app.audit.detection import choose_kind
from app.audit.findings import Findings
from app.audit.inspection import inspect
from app.audit.reference import open_reference
from app.audit.segments import HIGHEST_RATE, LOWEST_RATE
from app.audit.sources import Order, open_body
from app.audit.table import list_lines, make_document
from app.errors import UnreadableAudioError
from app.formats import FORMATS

GAPLESS: Final = 0
NOT_GAPLESS: Final = 1
UNREADABLE: Final = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes, and say what its exit status means."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = __doc__
    parser.add_argument("body", help="a file, an http(s) URL, or - for standard input")
    parser.add_argument("--against", metavar="REFERENCE", help="an audio file: what was meant")
    parser.add_argument("--format", choices=sorted(FORMATS), help="if the bytes do not say")
    parser.add_argument("--rate", type=_read_rate, default=24_000, help="of raw PCM, in Hz")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--data", help="JSON to POST to the URL; @FILE reads it from a file")
    parser.add_argument(
        "--header", action="append", default=[], type=_read_header, metavar="NAME:VALUE"
    )
    parser.add_argument(
        "--timeout", type=_read_seconds, default=60.0, help="longest wait for bytes, in seconds"
    )


def run(arguments: argparse.Namespace) -> int:
    """Tell whether a body is one gapless container, by itself or against a reference."""
    try:
        findings = _audit(arguments)
    except UnreadableAudioError as error:
        message = "".join(char if char.isprintable() else " " for char in error.message)
        sys.stderr.write(f"audit: {message}\n")
        return UNREADABLE
    lines = (
        [json.dumps(make_document(findings), indent=2)] if arguments.json else list_lines(findings)
    )
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return NOT_GAPLESS if any(findings.list_problems()) else GAPLESS


def _audit(arguments: argparse.Namespace) -> Findings:
    order = Order(
        arguments.body,
        _read_data(arguments.data),
        headers=arguments.header,
        timeout_seconds=arguments.timeout,
    )
    with ExitStack() as opened:
        reference = (
            opened.enter_context(open_reference(arguments.against)) if arguments.against else None
        )
        body = opened.enter_context(open_body(order))
        kind = choose_kind(body, format_name=arguments.format)
        return inspect(body, kind, pcm_rate=arguments.rate, reference=reference)


def _read_data(data: str | None) -> bytes | None:
    if data is None or not data.startswith("@"):
        return None if data is None else data.encode()
    try:
        return Path(data[1:]).read_bytes()
    except (OSError, ValueError) as error:
        raise UnreadableAudioError(f"{data[1:]} cannot be read: {error}.") from error


def _read_rate(text: str) -> int:
    rate = int(text)
    if not LOWEST_RATE <= rate <= HIGHEST_RATE:
        raise argparse.ArgumentTypeError(f"{LOWEST_RATE} to {HIGHEST_RATE} Hz")
    return rate


def _read_seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError("a time above 0")
    return seconds


def _read_header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise argparse.ArgumentTypeError("NAME:VALUE")
    return name.strip(), value.strip()

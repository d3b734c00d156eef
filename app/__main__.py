"""The command line: python -m app serve | say | voices | settings | key | bench | audit."""

import argparse
import os
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Final

import msgspec

from app.audit import command as audit
from app.errors import InvalidRequestError, LegatoError
from app.formats import FORMATS
from app.main import create_app, load_engines
from app.schemas import SpeechBody
from app.server.serve import make_server
from app.settings import Settings
from app.settings.command_line import make_setting_flags, read_setting_flags, refuse_unknown
from app.settings.keys import make_key, write_key
from app.settings.report import report_settings, write_report
from app.speech.catalogue import Catalogue
from app.speech.encoder import FileEncoder
from app.speech.order import understand
from app.speech.stream import encoded
from app.web.spool import MEMORY_BYTES
from app.web.stream_log import configure_logging

Command = Callable[[argparse.Namespace], int | None]


def serve(arguments: argparse.Namespace) -> None:
    """Run the server until it is told to stop."""
    settings = _read_settings(arguments)
    configure_logging(settings.log_format)
    app = create_app(settings)
    if settings.tracing:
        # Only an install with the extra `tracing` has it.
        from app.web.tracing import export_spans  # noqa: PLC0415

        export_spans()
    make_server(app, settings).run()
    failure = app.state.readiness.failure
    if failure is not None:
        raise failure


def say(arguments: argparse.Namespace) -> None:
    """Speak a text into a file; its name chooses the format."""
    settings = _read_settings(arguments)
    body = _read_body(arguments)
    order = understand(body, Catalogue(load_engines(settings)))
    started = time.perf_counter()
    with SpooledTemporaryFile(max_size=MEMORY_BYTES) as file:
        with closing(
            encoded(order.engine, order.speech, partial(FileEncoder, order.audio_format, file=file))
        ) as turns:
            deque(turns, maxlen=0)
        # Only a whole speech takes the place of what may be there.
        with arguments.output.open("wb") as output:
            shutil.copyfileobj(file, output)
    print(f"{arguments.output}: made in {time.perf_counter() - started:.2f} s")


def list_voices(arguments: argparse.Namespace) -> None:
    """Print the voices that there are."""
    for engine, voice in Catalogue(load_engines(_read_settings(arguments))).voices():
        print(f"{voice.id}\t{voice.language}\t{engine.id}")


def show_settings(arguments: argparse.Namespace) -> None:
    """Print each setting with its value, who set it and what it is for; secrets are masked."""
    reports = report_settings(os.environ, read_setting_flags(arguments))
    if arguments.json:
        print(msgspec.json.format(msgspec.json.encode(reports)).decode())
    else:
        print("\n".join(map(write_report, reports)))


def make_client_key(arguments: argparse.Namespace) -> None:
    """Make a bearer key for a client, and the lines that let it in."""
    secret, key = make_key(arguments.name, trusted=arguments.trusted)
    print(f"The key, shown this once: {secret}\n\nFor the settings file:\n\n{write_key(key)}")


def bench(arguments: argparse.Namespace) -> None:
    """Measure, as ratios taken side by side in this run."""
    # The benchmarks need the judges, which only a development install has.
    from app.bench import run  # noqa: PLC0415

    run(_read_settings(arguments))


def _read_body(arguments: argparse.Namespace) -> SpeechBody:
    """Read the arguments as the server would read the same request."""
    fields = {
        "input": sys.stdin.read() if arguments.text == "-" else arguments.text,
        "response_format": arguments.format or _name_format(arguments.output),
        "voice": arguments.voice,
        "speed": arguments.speed,
        "seed": arguments.seed,
    }
    try:
        return msgspec.convert(fields, SpeechBody)
    except msgspec.ValidationError as error:
        raise InvalidRequestError(str(error)) from error


def _name_format(output: Path) -> str:
    extension = output.suffix.removeprefix(".").lower()
    for audio_format in FORMATS.values():
        if audio_format.extension == extension:
            return audio_format.name
    known = ", ".join(dict.fromkeys(f".{known.extension}" for known in FORMATS.values()))
    raise InvalidRequestError(f"No format is written as {output.name!r}; name it one of {known}.")


def _read_settings(arguments: argparse.Namespace) -> Settings:
    return Settings.load(os.environ, read_setting_flags(arguments))


def _parse(words: Sequence[str] | None) -> argparse.Namespace:
    settings = make_setting_flags()
    parser = argparse.ArgumentParser(prog="python -m app", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for run, name in (
        (serve, "serve"),
        (say, "say"),
        (list_voices, "voices"),
        (show_settings, "settings"),
        (make_client_key, "key"),
        (bench, "bench"),
        (audit.run, "audit"),
    ):
        command = commands.add_parser(
            name,
            help=run.__doc__,
            description=run.__doc__,
            parents=[] if run in {make_client_key, audit.run} else [settings],
            allow_abbrev=False,
        )
        command.set_defaults(run=run)
        if run in _ADD_ARGUMENTS:
            _ADD_ARGUMENTS[run](command)
    arguments, unknown = parser.parse_known_args(words)
    refuse_unknown(unknown, arguments)
    return arguments


def _add_say_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("text", help="what to say; - reads it from standard input")
    command.add_argument("-o", "--output", type=Path, required=True, help="the file to write")
    command.add_argument("--format", choices=sorted(FORMATS), help="instead of the name's own")
    command.add_argument("--voice", help="a name from `voices`")
    command.add_argument("--speed", type=float, default=1.0, help="0.25 to 4; 1 is natural")
    command.add_argument("--seed", type=int, help="makes the speech repeatable")


def _add_settings_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="for programs to read")


def _add_key_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", help="the client's name, as logs and limits will call it")
    command.add_argument("--trusted", action="store_true", help="may send longer texts")


_ADD_ARGUMENTS: Final[Mapping[Command, Callable[[argparse.ArgumentParser], None]]] = {
    say: _add_say_arguments,
    show_settings: _add_settings_arguments,
    make_client_key: _add_key_arguments,
    audit.run: audit.add_arguments,
}


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; gives its exit status, 1 with one line of explanation for a known error."""
    try:
        arguments = _parse(words)
        status: int = arguments.run(arguments) or 0
    except LegatoError as error:
        print(f"legato: {error.message}", file=sys.stderr)
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())

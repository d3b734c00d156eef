"""The command as a person types it, without the rest of the product around it."""

import argparse
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from app.audit.alignment import Samples
from app.audit.command import add_arguments, run
from app.formats import find_format
from tests.audit.sounds import make_noise
from tests.files import encode_file
from tests.naive import NaiveEncoder
from tests.speech.encoding import cut, encode

RATE: Final = 24_000
CUTS: Final = (RATE, 2 * RATE + 777)
SOUND: Final = make_noise(4 * RATE, RATE)


@dataclass(frozen=True)
class Audit:
    """What a run of the command gave."""

    status: int
    out: str
    err: str

    @property
    def verdict(self) -> str:
        return self.out.splitlines()[-1]

    @property
    def document(self) -> Any:  # noqa: ANN401 - JSON
        return json.loads(self.out)


@dataclass(frozen=True)
class Auditor:
    """Writes bodies to files and audits them."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    def write(self, body: bytes, name: str = "body") -> str:
        path = self.folder / name
        path.write_bytes(body)
        return str(path)

    def run(self, *words: str) -> Audit:
        parser = argparse.ArgumentParser()
        add_arguments(parser)
        status = run(parser.parse_args(words))
        said = self.capsys.readouterr()
        return Audit(status, said.out, said.err)

    def judge(self, body: bytes, *words: str, against: Samples | None = None) -> Audit:
        if against is not None:
            reference = encode_file(find_format("wav"), RATE, [against])
            words = (*words, "--against", self.write(reference, "reference.wav"))
        return self.run(self.write(body), *words)


@cache
def make_good(name: str) -> bytes:
    return encode([SOUND], find_format(name), rate=RATE)


@cache
def make_bad(name: str) -> bytes:
    return encode(cut(SOUND, CUTS), find_format(name), rate=RATE, encoder=NaiveEncoder)


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * RATE), np.float32)

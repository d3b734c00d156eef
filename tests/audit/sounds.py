"""Sounds whose seams can be seen: noise tells every lag apart, a chirp has no dips of its own."""

from typing import Final

import numpy as np

from app.audit.alignment import Samples

LOWEST_HZ: Final = 150.0
HIGHEST_HZ: Final = 7000.0


def make_noise(count: int, rate: int, *, seed: int = 1) -> Samples:
    """Give `count` samples of noise from 150 to 7000 Hz at an effective level of 0.2."""
    random = np.random.default_rng(seed)
    spectrum = np.fft.rfft(random.standard_normal(count))
    frequencies = np.fft.rfftfreq(count, 1 / rate)
    spectrum[(frequencies < LOWEST_HZ) | (frequencies > HIGHEST_HZ)] = 0
    noise = np.fft.irfft(spectrum, count)
    return np.asarray(noise * (0.2 / np.std(noise)), dtype=np.float32)


def make_chirp(count: int, rate: int) -> Samples:
    """Give `count` samples of a sine at level 0.5 that rises evenly from 150 to 7000 Hz."""
    times = np.arange(count) / rate
    rise = (HIGHEST_HZ - LOWEST_HZ) * rate / count
    turns = LOWEST_HZ * times + rise * times * times / 2
    return np.asarray(0.5 * np.sin(2 * np.pi * turns), dtype=np.float32)


def make_babble(count: int, rate: int, *, seed: int = 1) -> Samples:
    """Give `count` samples with what makes speech hard to place: steady pitch, hiss and silence.

    Syllables of 0.2 to 0.5 s, each voiced (a pulse train between 90 and 180 Hz, ringing at three
    formants) or hissed, with silences of 20 to 200 ms between them.
    """
    random = np.random.default_rng(seed)
    pieces: list[Samples] = []
    while sum(map(len, pieces)) < count:
        length = int(random.uniform(0.2, 0.5) * rate)
        voiced = random.random() < 0.75
        pieces.append(_ring_pulses(length, rate, random) if voiced else _hiss(length, random))
        pieces.append(np.zeros(int(random.uniform(0.02, 0.2) * rate), dtype=np.float32))
    return np.concatenate(pieces)[:count]


def _ring_pulses(length: int, rate: int, random: np.random.Generator) -> Samples:
    pitch = random.uniform(90, 180) * (1 + 0.02 * np.linspace(-1, 1, length))
    pulses = np.diff(np.floor(np.cumsum(pitch / rate)), prepend=0.0)
    times = np.arange(rate // 20) / rate
    formants = random.uniform((300, 900, 2200), (800, 1800, 3200))
    ringing = sum(np.sin(2 * np.pi * hertz * times) for hertz in formants) * np.exp(-times * 150)
    return _swell(np.convolve(pulses, ringing)[:length])


def _hiss(length: int, random: np.random.Generator) -> Samples:
    return _swell(np.diff(random.standard_normal(length + 1))) * np.float32(0.3)


def _swell(sound: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Samples:
    ramp = np.minimum(1.0, np.minimum(np.arange(len(sound)), np.arange(len(sound))[::-1]) / 400)
    return np.asarray(sound * ramp / (4 * np.std(sound) + 1e-9), dtype=np.float32)

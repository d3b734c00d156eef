"""A token bucket kept as one number: when it will be full again."""

from typing import Final

_ROUNDING: Final = 1e-9
"""A bucket's worth of additions is off by some rounding errors, in parts of the whole."""


def take_token(
    full_at: float, now: float, *, token_seconds: float, bucket_seconds: float
) -> tuple[float, float]:
    """Take a token from a bucket that is full at `full_at`; gives that time anew, and a wait.

    A token takes `token_seconds` to refill and a whole bucket `bucket_seconds`. The wait, 0.0 where
    there was a token, is how long until there is one. All in seconds on one clock. This is the
    generic cell rate algorithm (ITU-T I.371).
    """
    full_at = max(full_at, now) + token_seconds
    return full_at, max(0.0, full_at - now - bucket_seconds * (1 + _ROUNDING))

"""Schemathesis' own checks, with the one exception that no schema can state; it loads this file."""

from typing import Any
from uuid import UUID

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.web.fuzzing import KNOWN_SPEECH


@schemathesis.hook
def map_path_parameters(
    _context: schemathesis.HookContext, path_parameters: dict[str, Any]
) -> dict[str, Any]:
    """Let every other speech that is asked about be one that there is."""
    try:
        is_even = UUID(path_parameters["stream_id"]).int % 2 == 0
    except (KeyError, TypeError, ValueError, AttributeError):
        return path_parameters
    return {"stream_id": KNOWN_SPEECH} if is_even else path_parameters


@schemathesis.check
def acceptance_of_what_can_be_spoken(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case[Any]
) -> bool | None:
    """Let a text be refused that holds nothing to speak, but nothing else that is allowed."""
    if response.status_code == 400 and b'"nothing_to_speak"' in response.content:
        return None
    return positive_data_acceptance(ctx, response, case)

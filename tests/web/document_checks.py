"""Schemathesis' own checks, with the one exception that no schema can state; it loads this file."""

from typing import Any

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance


@schemathesis.check
def acceptance_of_what_can_be_spoken(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case[Any]
) -> bool | None:
    """Let a text be refused that holds nothing to speak, but nothing else that is allowed."""
    if response.status_code == 400 and b'"nothing_to_speak"' in response.content:
        return None
    return positive_data_acceptance(ctx, response, case)

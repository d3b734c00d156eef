"""HTTP at the edge: routes, errors in OpenAI's shape, and the page."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Uvicorn runs on asyncio, and so do the tests."""
    return "asyncio"

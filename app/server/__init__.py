"""The edge of the server: its sockets, with their limits and deadlines, on uvicorn and asyncio."""

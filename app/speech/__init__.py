"""Text to PCM to bytes: everything between a request's words and the response's body."""

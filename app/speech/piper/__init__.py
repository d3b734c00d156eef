"""The embedded voice: any Piper model, spoken by MLX."""

"""The judge: how many containers a body holds, and what all of it decodes to."""

"""Legato: text becomes speech in one container per response, heard without a seam."""

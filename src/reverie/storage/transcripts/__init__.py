"""Transcripts in rows."""

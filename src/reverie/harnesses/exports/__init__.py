"""Transcripts that come as files: exports and benchmark runs."""

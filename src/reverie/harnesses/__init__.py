"""The agents people run, one folder each: their transcripts, their memory files."""

"""Commands that keep a home whole: verify, recover, back up, erase."""

"""Files, locks, schedules: what the operating system gives."""

"""One dream step by step, inline or by a worker."""

"""Foreign text in a person's turn: a generator of wrappers × languages × lengths, and what people type themselves."""

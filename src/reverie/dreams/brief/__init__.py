"""What a curator is shown of one night: sessions chosen, gathered, rendered, and trimmed to fit."""

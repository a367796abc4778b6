"""Memory stores that live elsewhere: exported folders, and servers that speak Anthropic's protocol. Only read."""

"""What the agent's own calls taught: which failed, what mended it, and which steps it ran for what it was asked."""

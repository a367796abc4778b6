"""Commands to begin with: make a home, look at what there is, put Reverie into an agent."""

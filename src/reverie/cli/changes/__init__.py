"""Commands for what agents are told: memory, skills, rules, what waits, and what happened."""

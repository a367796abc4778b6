"""How agents reach a Home while they work: what they may ask and propose, and the protocol that carries it (MCP).

Comes in: a call of a tool, with arguments an agent wrote. Goes out: text. It never writes memory or a skill: what an
agent wants changed becomes a proposal with the Origin of an agent, which always asks a person.
"""

"""Reverie inside other programs: what agents may ask and propose while they work (MCP), and the plugin of Hermes.

Comes in: a call of a tool with arguments an agent wrote, or a program's own events and commands. Goes out: text, or
calls of `reverie`. It never writes memory or a skill: what an agent wants changed becomes a proposal with the Origin
of an agent, which always asks a person.
"""

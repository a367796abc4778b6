"""The server: the wire of Anthropic's Managed Agents, spoken by thin routes. Parse, one call, render.

In: HTTP from an unmodified `anthropic` SDK, curl, anyone with a key. Out: the same shapes, errors and pages.
It never decides anything: rules are in the rooms, and whose rows a call may touch is in the Scope of its key. Text of
a memory is never logged.
"""

"""Review in the browser. Comes in: requests of one person on this machine. Goes out: pages.

A shell over Home: a route parses, asks Home, renders. Never: text of a transcript as HTML, a write without a form's
token, a request to anywhere else.
"""

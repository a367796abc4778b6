"""Who is asked: the port to any model, which role asks which one, what may be sent, and what it may cost.

In: passages of a Session that the built-in reader found worth a look, without secrets and with stand-ins for people's
identifiers. Out: Suggestions whose every quotation stands in the Session, and an account of each call.
It never offers a model a tool, never believes a score, a path, an Origin or an authority from one, never spends above
the cap, and never opens a connection itself: that is an adapter's work.
"""

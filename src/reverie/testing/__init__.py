"""The fakes we ship, so that whoever builds on Reverie can test against them.

In: a script of answers and misbehaviours. Out: a real server on loopback that behaves so, and a record of what it was
asked. It is never imported by the rest of the house, never listens on anything but loopback, and mocks nothing.
"""

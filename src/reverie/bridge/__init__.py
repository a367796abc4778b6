"""The bridge: what a managed memory learned comes in, reviewed changes to skills and memory go out.

In come copies of memory stores (`pull`), from a server that speaks Anthropic's protocol or from a folder (`source`).
Two of them are compared (`compare`), and each difference in behaviour becomes a proposal in the queue of `changes`
(`propose`). What was approved goes back as documents (`push`). `night` has a server dream about more sessions than one
dream reads.

Nothing lands from here, and a source is never modified, except by a push.
"""

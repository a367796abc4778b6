"""The bridge: what a managed memory learned comes in, reviewed changes to skills and memory go out.

In come copies of memory stores, from a server that speaks Anthropic's protocol or from a folder (`source`). Two of them
are taken apart (`statements`) and compared (`diff`). Each difference in behaviour gets a place (`places`, `route`), the
people behind it (`backing`) and words (`draft`), and becomes a proposal in the queue of `changes` (`amendments`). What
was approved goes back as documents, and a server is asked to dream about more sessions than one dream reads (`server`).
`library` is all of that for one home.

Nothing lands from here, and a source is never modified, except by a push.
"""

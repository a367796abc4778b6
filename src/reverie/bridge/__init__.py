"""The bridge: what a managed memory learned comes in, reviewed changes to skills and memory go out.

In come two copies of a memory store (`snapshot`), from a server that speaks Anthropic's protocol or from a folder. They
are taken apart into statements (`statements`), which are put beside each other wherever they stand (`align`); what two
of them do to each other is weighed (`rewording`); the result is a list of differences in behaviour (`diff`).

Nothing here writes: a source is never modified, and what goes on from here goes into the queue of `changes`.
"""

"""The bridge: what a managed memory learned comes in, reviewed changes to skills and memory go out.

In come copies of memory stores (`pull`, `snapshot`), from a server that speaks Anthropic's protocol or from a folder.
Two of them are taken apart into statements (`statements`), which are put beside each other wherever they stand
(`align`) and weighed (`rewording`); the result is a list of differences in behaviour (`diff`). A model may say which
doubtful ones are changes (`curate`). Each is given a place (`route`, `learned_routes`, `new_skill`), held against what
people said (`backing`), drafted (`draft`) and put into the queue of `changes` (`amendments`). What was approved goes
back as documents (`push`). `night` has a server dream about more sessions than one dream reads.

Nothing lands from here, and a source is never modified, except by a push.
"""

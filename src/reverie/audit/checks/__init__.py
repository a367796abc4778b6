"""What can be wrong with what an agent reads: one module for each kind of fault."""

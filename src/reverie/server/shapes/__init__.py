"""What goes over the wire, one module for each kind of resource."""

"""One module per format. Each is registered under the entry point group `reverie.readers`, as a stranger's is."""

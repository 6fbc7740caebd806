"""The Python interface: what the command line does, as functions on names or objects. Exported from `kibitz` itself."""

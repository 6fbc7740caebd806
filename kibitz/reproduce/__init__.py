"""Tables and figures of the papers, our numbers beside the published ones. One file per paper."""

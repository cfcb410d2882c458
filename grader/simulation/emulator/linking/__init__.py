"""From the instructions of a PTX function to steps that change a machine."""

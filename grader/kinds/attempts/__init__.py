"""Running again with less or other: smaller sizes, another order of parameters, other inputs."""

"""How a job is started: scripts, environments and manifests taken apart."""

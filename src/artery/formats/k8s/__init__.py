"""Kubernetes: nodes, pods and topologies."""

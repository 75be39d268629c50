"""What PyTorch writes: traces, the flight recorder, the watchdog, torchrun."""

"""What this library costs on the machine at hand: `python -m benchmarks`."""

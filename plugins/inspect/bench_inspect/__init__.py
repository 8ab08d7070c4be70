"""What is installed, what a suite asks for, what is stored and damaged: `bench list`, `bench plan`, `bench doctor`."""

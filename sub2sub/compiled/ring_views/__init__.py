"""Ring views of a population: their memory, and Figure 3 of Sub-2-Sub on it."""

"""The one place that starts Spark, and finds or provides a Java for it."""

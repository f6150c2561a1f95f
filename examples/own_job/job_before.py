"""The job as it was written first: one long expression. `job.py` beside it is the same job, ready to be profiled."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as PySpark's own documentation names it

ORDER = "shop string, item string, price double, amount int"


def main() -> None:
    """Run the job as it has always run."""
    spark = SparkSession.builder.appName("orders").getOrCreate()
    messages = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", "localhost:9092")
        .option("subscribe", "orders")
        .load()
        .selectExpr("cast(value as string) as value")
    )
    totals = (
        messages.select(F.from_json("value", ORDER).alias("order"))
        .select("order.*")
        .where("shop is not null")
        .select("shop", F.round(F.col("price") * F.col("amount"), 2).alias("worth"))
        .groupBy("shop")
        .agg(F.sum("worth").alias("worth"))
        .selectExpr("shop as key", "to_json(struct(*)) as value")
    )
    writing = (
        totals.writeStream.format("kafka")
        .option("kafka.bootstrap.servers", "localhost:9092")
        .option("topic", "totals")
        .option("checkpointLocation", "checkpoints/orders")
        .outputMode("update")
    )
    writing.start().awaitTermination()


if __name__ == "__main__":
    main()

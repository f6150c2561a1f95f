"""A streaming job as many have one: orders in, totals per shop out. It runs by itself, with spark-submit."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as PySpark's own documentation names it

ORDER = "shop string, item string, price double, amount int"


def parse(messages: DataFrame) -> DataFrame:
    """Read the orders; what is none is left out."""
    return (
        messages.select("event_time", F.from_json("value", ORDER).alias("order"))
        .select("event_time", "order.*")
        .where("shop is not null")
    )


def price(orders: DataFrame) -> DataFrame:
    """Work out what each order is worth."""
    return orders.select("event_time", "shop", F.round(F.col("price") * F.col("amount"), 2).alias("worth"))


def total(orders: DataFrame) -> DataFrame:
    """Add up by shop."""
    return orders.groupBy("shop").agg(F.sum("worth").alias("worth"), F.last("event_time").alias("event_time"))


def main() -> None:
    """Run the job as it has always run."""
    spark = SparkSession.builder.appName("orders").getOrCreate()
    messages = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", "localhost:9092")
        .option("subscribe", "orders")
        .load()
        .selectExpr("cast(value as string) as value", "timestamp as event_time")
    )
    totals = total(price(parse(messages))).selectExpr("shop as key", "to_json(struct(shop, worth)) as value")
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

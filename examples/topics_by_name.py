"""Topics with subtopics, filters and conditions: who receives what, by both routings of one overlay.

Prints a line for each event.
"""

from hierarchy import Topics
from sub2sub import Float


def main() -> list[tuple[str, ...]]:
    """Publish some events; the subscribers that received each."""
    topics = Topics.of(["sport.soccer.cup", "sport.tennis", "news"], attributes={"price": Float(0, 100)})
    topics.subscribe("sport.soccer", by="alice")  # with all its subtopics: a member of the topic
    topics.subscribe("sport.soccer", price=(0, 10), by="bob")  # the same, if it is cheap
    topics.subscribe("sport/+", by="carol")  # the topics right below, as in MQTT
    topics.subscribe("sport.>", by="dave")  # all topics below, as in NATS
    overlay = topics.overlay(seed=1).run(20)
    events = [
        overlay.publish("sport.soccer.cup", price=3),
        overlay.publish("sport.soccer", price=50, by="alice", route="camcast"),
        overlay.publish("sport.rowing", price=50),  # a new topic
    ]
    overlay.move_topic("sport.soccer", "news")  # who subscribes to it follows
    overlay.run(12)
    events.append(overlay.publish("news.soccer.cup", price=1))
    for event in events:
        print(event)
    return [event.received for event in events]


if __name__ == "__main__":
    main()

# Shared by the Python programs: see README.md.
import os
import sys
import threading

output = threading.Lock()


def dsn():
    return {
        "host": os.environ["PGHOST"],
        "port": os.environ["PGPORT"],
        "user": os.environ["PGUSER"],
        "password": os.environ["PGPASSWORD"],
        "sslmode": os.environ["PGSSLMODE"],
        "dbname": os.environ["PGDATABASE"],
    }


def tell(*parts):
    shown = "\t".join(str(part).strip().replace("\n", " | ").replace("\t", " | ") for part in parts)
    with output:
        sys.stdout.buffer.write((shown + "\n").encode())
        sys.stdout.buffer.flush()


def requests():
    """The requests of standard input: id, verb, session and a list of words."""
    for line in sys.stdin.buffer:
        request, verb, session, *words = line.decode().rstrip("\n").split("\t")
        yield request, verb, session, words


def count_and_sum(numbers):
    return f"{len(numbers)} {sum(numbers)}"


def numbers_up_to(count):
    return range(1, int(count) + 1)

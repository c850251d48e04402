# What the Python programs share: see README.md.
import os
import sys
import threading
import time

WRITE = "insert into driver_writes default values returning host(inet_server_addr()) || ':' || inet_server_port()"
LARGE = "select n, repeat('x', 100) from generate_series(1, 50000) n"
POOL = "-c pointsman.pool=ro"


def dsn():
    return {
        "host": os.environ["PGHOST"],
        "port": int(os.environ["PGPORT"]),
        "user": os.environ["PGUSER"],
        "password": os.environ["PGPASSWORD"],
        "sslmode": os.environ["PGSSLMODE"],
        "dbname": os.environ["PGDATABASE"],
    }


def tell(*parts):
    sys.stdout.write("\t".join(str(part).strip().replace("\n", " | ") for part in parts) + "\n")
    sys.stdout.flush()


def run_cases(cases, sqlstate_of):
    for name in sys.argv[2:]:
        try:
            tell(name, "ok", cases[name]())
        except Exception as error:
            tell(name, "error", sqlstate_of(error) or "", error)


def work(connect, write):
    def one():
        connection = None
        while True:
            try:
                if connection is None:
                    connection = connect()
            except Exception as error:
                tell("work", "connect-error", error)
                continue
            try:
                tell("work", "ok", write(connection))
                time.sleep(0.1)
            except Exception as error:
                tell("work", "statement-error", error)
                connection = None

    for _ in range(3):
        threading.Thread(target=one, daemon=True).start()
    sys.stdin.read()
    os._exit(0)

# psycopg 2: see README.md.
import io
import os
import queue
import threading

import psycopg2
import psycopg2.extras
from common import count_and_sum, dsn, numbers_up_to, requests, tell


class Session:
    def __init__(self, name):
        self.name = name
        self.load_thread = None
        self.requests = queue.Queue()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            request, verb, words = self.requests.get()
            try:
                tell(request, "ok", getattr(self, verb)(*words))
            except psycopg2.Error as error:
                tell(request, "error", error.pgcode or "", error.pgerror or error)
            except Exception as error:
                tell(request, "error", "", repr(error))
            if verb != "load":
                self.tell_events()

    def tell_events(self):
        for notice in self.connection.notices:
            tell("event", self.name, "notice", notice)
        del self.connection.notices[:]
        if self.connection.closed:
            tell("event", self.name, "end")

    def open(self, options):
        self.connection = psycopg2.connect(**dsn(), application_name=self.name, options=options)
        self.connection.autocommit = True
        return ""

    def run(self, text):
        self.connection.cursor().execute(text)
        return ""

    def value(self, text, values=None):
        cursor = self.connection.cursor()
        cursor.execute(text, values)
        row = cursor.fetchone()
        return "" if row is None or row[0] is None else row[0]

    def bind(self, text, value):
        return self.value(text.replace("$1", "%s"), (int(value),))

    def prepare(self, name, text):
        return self.run(f'prepare "{name}" (int) as {text}')

    def execute(self, name, value):
        return self.value(f'execute "{name}" (%s)', (int(value),))

    def copy_in(self, table, count):
        self.connection.cursor().copy_from(io.StringIO("".join(f"{n}\n" for n in numbers_up_to(count))), table)
        return ""

    def copy_out(self, query):
        out = io.StringIO()
        self.connection.cursor().copy_expert(f"copy ({query}) to stdout", out)
        return count_and_sum([int(line) for line in out.getvalue().split()])

    def cursor(self, query):
        self.connection.autocommit = False
        cursor = self.connection.cursor(name="numbers")
        cursor.itersize = 100
        cursor.execute(query)
        numbers = [n for n, in cursor]
        cursor.close()
        self.connection.commit()
        self.connection.autocommit = True
        return count_and_sum(numbers)

    def batch(self, table, count):
        values = [(n,) for n in numbers_up_to(count)]
        psycopg2.extras.execute_batch(self.connection.cursor(), f"insert into {table} values (%s)", values)
        return ""

    def cancel(self):
        threading.Timer(0.3, self.connection.cancel).start()
        try:
            self.run("select pg_sleep(60)")
        except psycopg2.Error as error:
            return error.pgcode or str(error)
        return "no error"

    def encode(self, encoding):
        self.connection.set_client_encoding(encoding)
        return ""

    def parameter(self, name):
        return self.connection.get_parameter_status(name) or ""

    def transaction(self):
        return "idle" if self.connection.info.transaction_status == 0 else "open"

    def load(self, table):
        self.is_loaded = True
        self.acknowledged = 0
        self.failure = None

        def write():
            try:
                while self.is_loaded:
                    self.connection.cursor().execute(f"insert into {table} (source) values (%s)", (self.name,))
                    self.acknowledged += 1
            except psycopg2.Error as error:
                self.failure = error

        self.load_thread = threading.Thread(target=write, daemon=True)
        self.load_thread.start()
        return ""

    def unload(self):
        self.is_loaded = False
        self.load_thread.join()
        if self.failure is not None:
            raise self.failure
        return self.acknowledged


sessions = {}
for request, verb, name, words in requests():
    if name not in sessions:
        sessions[name] = Session(name)
    sessions[name].requests.put((request, verb, words))
os._exit(0)

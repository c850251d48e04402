// Go's lib/pq: see README.md.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lib/pq"
)

const write = "insert into driver_writes default values returning host(inet_server_addr()) || ':' || inet_server_port()"
const recovery = "select pg_is_in_recovery()::text"

func tell(parts ...string) {
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(strings.TrimSpace(part), "\n", " | ")
	}
	fmt.Println(strings.Join(parts, "\t"))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// lib/pq reads host, port, user, password, database and sslmode from libpq's variables.
func pool(more string) *sql.DB {
	db, err := sql.Open("postgres", more)
	check(err)
	db.SetMaxOpenConns(3)
	return db
}

func session(more string) *sql.Conn {
	conn, err := pool(more).Conn(context.Background())
	check(err)
	return conn
}

func value(conn *sql.Conn, text string) string {
	var found string
	check(conn.QueryRowContext(context.Background(), text).Scan(&found))
	return found
}

func failing(conn *sql.Conn, ctx context.Context, text string) string {
	_, err := conn.ExecContext(ctx, text)
	state := "none"
	if failed, is := err.(*pq.Error); is {
		state = string(failed.Code)
	}
	return state + " " + value(conn, "select 1")
}

var cases = map[string]func() string{
	"connect": func() string { return value(session(""), "select 1") },
	"prepared": func() string {
		statement, err := session("").PrepareContext(context.Background(), "select $1::int + 1")
		check(err)
		found := make([]string, 3)
		for i := range found {
			check(statement.QueryRow(41).Scan(&found[i]))
		}
		return strings.Join(found, " ")
	},
	"transaction": func() string {
		conn := session("")
		_, err := conn.ExecContext(context.Background(), "create temporary table t (n int)")
		check(err)
		counts := []string{}
		for _, isWanted := range []bool{false, true} {
			begun, err := conn.BeginTx(context.Background(), nil)
			check(err)
			_, err = begun.Exec("insert into t values (1)")
			check(err)
			if isWanted {
				check(begun.Commit())
			} else {
				check(begun.Rollback())
			}
			counts = append(counts, value(conn, "select count(*) from t"))
		}
		return strings.Join(counts, " ")
	},
	"large": func() string {
		rows, err := session("").QueryContext(context.Background(), "select n, repeat('x', 100) from generate_series(1, 50000) n")
		check(err)
		count, sum := 0, 0
		for rows.Next() {
			var n int
			var text string
			check(rows.Scan(&n, &text))
			count, sum = count+1, sum+n
		}
		check(rows.Err())
		return fmt.Sprintf("%d %d", count, sum)
	},
	"error": func() string { return failing(session(""), context.Background(), "select 1/0") },
	"cancel": func() string {
		// database/sql drops the connection after a cancel. The test needs only that the server ends the statement.
		db := pool("")
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		_, err := db.ExecContext(ctx, "select pg_sleep(60)")
		state := "none"
		if failed, is := err.(*pq.Error); is {
			state = string(failed.Code)
		}
		var one string
		check(db.QueryRow("select 1").Scan(&one))
		return state + " " + one
	},
	"recovery": func() string { return value(session(""), recovery) },
	"pool":     func() string { return value(session("options='-c pointsman.pool=ro'"), recovery) },
}

func keepWriting(db *sql.DB) {
	for {
		conn, err := db.Conn(context.Background())
		if err != nil {
			tell("work", "connect-error", err.Error())
			continue
		}
		var server string
		err = conn.QueryRowContext(context.Background(), write).Scan(&server)
		if err == nil {
			tell("work", "ok", server)
			time.Sleep(100 * time.Millisecond)
		} else {
			tell("work", "statement-error", err.Error())
		}
		conn.Close()
	}
}

func run(name string) {
	defer func() {
		if err := recover(); err != nil {
			if failed, is := err.(*pq.Error); is {
				tell(name, "error", string(failed.Code), strings.Join([]string{failed.Message, failed.Detail, failed.Hint}, "\n"))
			} else {
				tell(name, "error", "", fmt.Sprint(err))
			}
		}
	}()
	tell(name, "ok", cases[name]())
}

func main() {
	if os.Args[1] == "work" {
		db := pool("")
		db.SetMaxIdleConns(3)
		for i := 0; i < 3; i++ {
			go keepWriting(db)
		}
		for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		}
		return
	}
	for _, name := range os.Args[2:] {
		run(name)
	}
}

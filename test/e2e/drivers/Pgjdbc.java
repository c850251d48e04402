// pgjdbc: see README.md.
import java.io.StringReader;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.postgresql.PGConnection;

class Pgjdbc {
  static final String WRITE =
      "insert into driver_writes default values returning host(inet_server_addr()) || ':' || inet_server_port()";
  static final String RECOVERY = "select pg_is_in_recovery()::text";

  static synchronized void tell(String... parts) {
    List<String> shown = new ArrayList<>();
    for (String part : parts) shown.add(part.strip().replace("\n", " | "));
    System.out.println(String.join("\t", shown));
    System.out.flush();
  }

  static Connection session(String... more) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", System.getenv("PGUSER"));
    properties.setProperty("password", System.getenv("PGPASSWORD"));
    properties.setProperty("sslmode", System.getenv("PGSSLMODE"));
    String authority = System.getenv("PGSSLROOTCERT");
    if (authority != null) properties.setProperty("sslrootcert", authority);
    // The case uses its statement three times, so that pgjdbc prepares it at the server.
    properties.setProperty("prepareThreshold", "2");
    if (more.length > 0) properties.setProperty("options", more[0]);
    String database = java.net.URLEncoder.encode(System.getenv("PGDATABASE"), java.nio.charset.StandardCharsets.UTF_8);
    return DriverManager.getConnection(
        "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + database, properties);
  }

  static String value(Connection db, String text) throws SQLException {
    try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery(text)) {
      rows.next();
      return rows.getString(1);
    }
  }

  static String failing(Connection db, Statement statement, String text) throws SQLException {
    try {
      statement.executeQuery(text);
      return "no error";
    } catch (SQLException error) {
      return error.getSQLState() + " " + value(db, "select 1");
    }
  }

  static String of(List<Integer> numbers) {
    return numbers.size() + " " + numbers.stream().mapToLong(Integer::longValue).sum();
  }

  static String run(String name) throws Exception {
    switch (name) {
      case "connect":
        return value(session(), "select 1");
      case "prepared": {
        var statement = session().prepareStatement("select ?::int + 1");
        List<String> found = new ArrayList<>();
        for (int n = 0; n < 3; n++) {
          statement.setInt(1, 41);
          ResultSet rows = statement.executeQuery();
          rows.next();
          found.add(rows.getString(1));
        }
        return String.join(" ", found);
      }
      case "transaction": {
        Connection db = session();
        db.createStatement().execute("create temporary table t (n int)");
        db.setAutoCommit(false);
        List<String> counts = new ArrayList<>();
        for (boolean isWanted : new boolean[] {false, true}) {
          db.createStatement().execute("insert into t values (1)");
          if (isWanted) db.commit();
          else db.rollback();
          counts.add(value(db, "select count(*) from t"));
          db.commit();
        }
        return String.join(" ", counts);
      }
      case "large": {
        Connection db = session();
        ResultSet rows =
            db.createStatement().executeQuery("select n, repeat('x', 100) from generate_series(1, 50000) n");
        List<Integer> numbers = new ArrayList<>();
        while (rows.next()) numbers.add(rows.getInt(1));
        return of(numbers);
      }
      case "error": {
        Connection db = session();
        return failing(db, db.createStatement(), "select 1/0");
      }
      case "copy": {
        Connection db = session();
        db.createStatement().execute("create temporary table t (n int)");
        var copies = db.unwrap(PGConnection.class).getCopyAPI();
        String rows = IntStream.rangeClosed(1, 1000).mapToObj(n -> n + "\n").collect(Collectors.joining());
        copies.copyIn("copy t from stdin", new StringReader(rows));
        StringWriter out = new StringWriter();
        copies.copyOut("copy t to stdout", out);
        return of(out.toString().lines().map(Integer::valueOf).collect(Collectors.toList()));
      }
      case "cancel": {
        Connection db = session();
        Statement statement = db.createStatement();
        new Thread(() -> {
          try {
            Thread.sleep(300);
            statement.cancel();
          } catch (Exception error) {
            throw new RuntimeException(error);
          }
        }).start();
        return failing(db, statement, "select pg_sleep(60)");
      }
      case "recovery":
        return value(session(), RECOVERY);
      case "pool":
        return value(session("-c pointsman.pool=ro"), RECOVERY);
      default:
        throw new IllegalArgumentException(name);
    }
  }

  static void keepWriting() {
    Connection db = null;
    while (true) {
      try {
        if (db == null) db = session();
      } catch (SQLException error) {
        tell("work", "connect-error", error.toString());
        continue;
      }
      try {
        tell("work", "ok", value(db, WRITE));
        Thread.sleep(100);
      } catch (SQLException | InterruptedException error) {
        tell("work", "statement-error", error.toString());
        db = null;
      }
    }
  }

  public static void main(String[] words) throws Exception {
    if (words[0].equals("work")) {
      for (int n = 0; n < 3; n++) new Thread(Pgjdbc::keepWriting).start();
      while (System.in.read() >= 0);
      Runtime.getRuntime().halt(0);
    }
    for (int n = 1; n < words.length; n++) {
      try {
        tell(words[n], "ok", run(words[n]));
      } catch (SQLException error) {
        tell(words[n], "error", String.valueOf(error.getSQLState()), error.getMessage());
      }
    }
    System.exit(0);
  }
}

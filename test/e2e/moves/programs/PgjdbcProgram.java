// pgjdbc: see README.md.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.postgresql.PGConnection;

class PgjdbcProgram {
  static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  static synchronized void tell(String... parts) {
    List<String> shown = new ArrayList<>();
    for (String part : parts) shown.add(part.strip().replace("\n", " | ").replace("\t", " | "));
    OUT.println(String.join("\t", shown));
  }

  static class Session {
    final String name;
    final ExecutorService requests = Executors.newSingleThreadExecutor();
    final Map<String, PreparedStatement> statements = new HashMap<>();
    Connection db;
    Future<Integer> load;
    volatile boolean isLoaded;

    Session(String name) {
      this.name = name;
    }

    void answer(String id, String verb, String[] words) {
      try {
        tell(id, "ok", act(verb, words));
        for (SQLWarning one = db.getWarnings(); one != null; one = one.getNextWarning())
          tell("event", name, "notice " + one.getMessage());
        db.clearWarnings();
      } catch (SQLException error) {
        tell(id, "error", String.valueOf(error.getSQLState()), error.getMessage());
        try {
          if (db != null && db.isClosed()) tell("event", name, "end");
        } catch (SQLException other) {
          tell("event", name, "error " + other.getMessage());
        }
      } catch (Exception error) {
        tell(id, "error", "", String.valueOf(error));
      }
    }

    String act(String verb, String[] words) throws Exception {
      switch (verb) {
        case "open":
          db = connect(words[0]);
          return "";
        case "run":
          try (Statement statement = db.createStatement()) {
            statement.execute(words[0]);
          }
          return "";
        case "value":
          try (Statement statement = db.createStatement()) {
            return first(statement.executeQuery(words[0]));
          }
        case "bind":
          try (PreparedStatement statement = db.prepareStatement(words[0].replace("$1", "?"))) {
            statement.unwrap(org.postgresql.PGStatement.class).setPrepareThreshold(0);
            statement.setInt(1, Integer.parseInt(words[1]));
            return first(statement.executeQuery());
          }
        case "prepare": {
          PreparedStatement statement = db.prepareStatement(words[1].replace("$1", "?"));
          // It is prepared at the server at its first execution.
          statement.unwrap(org.postgresql.PGStatement.class).setPrepareThreshold(1);
          statements.put(words[0], statement);
          execute(words[0], 0);
          return "";
        }
        case "execute":
          return execute(words[0], Integer.parseInt(words[1]));
        case "copy_in": {
          String rows = upTo(words[1]).mapToObj(n -> n + "\n").collect(Collectors.joining());
          db.unwrap(PGConnection.class).getCopyAPI().copyIn("copy " + words[0] + " from stdin", new StringReader(rows));
          return "";
        }
        case "copy_out": {
          StringWriter out = new StringWriter();
          db.unwrap(PGConnection.class).getCopyAPI().copyOut("copy (" + words[0] + ") to stdout", out);
          return of(out.toString().lines().map(Integer::valueOf).collect(Collectors.toList()));
        }
        case "cursor": {
          db.setAutoCommit(false);
          List<Integer> numbers = new ArrayList<>();
          try (Statement statement = db.createStatement()) {
            statement.setFetchSize(100);
            ResultSet rows = statement.executeQuery(words[0]);
            while (rows.next()) numbers.add(rows.getInt(1));
          }
          db.commit();
          db.setAutoCommit(true);
          return of(numbers);
        }
        case "batch":
          try (PreparedStatement statement = db.prepareStatement("insert into " + words[0] + " values (?)")) {
            for (int n : upTo(words[1]).toArray()) {
              statement.setInt(1, n);
              statement.addBatch();
            }
            statement.executeBatch();
          }
          return "";
        case "cancel":
          return cancel();
        case "parameter":
          return String.valueOf(db.unwrap(PGConnection.class).getParameterStatus(words[0]));
        case "transaction": {
          var state = db.unwrap(org.postgresql.core.BaseConnection.class).getTransactionState();
          return state == org.postgresql.core.TransactionState.IDLE ? "idle" : "open";
        }
        case "load":
          isLoaded = true;
          load = Executors.newSingleThreadExecutor().submit(() -> write(words[0]));
          return "";
        case "unload":
          isLoaded = false;
          return String.valueOf(load.get());
        default:
          throw new IllegalArgumentException(verb);
      }
    }

    Connection connect(String options) throws SQLException {
      Properties properties = new Properties();
      properties.setProperty("user", System.getenv("PGUSER"));
      properties.setProperty("password", System.getenv("PGPASSWORD"));
      properties.setProperty("sslmode", System.getenv("PGSSLMODE"));
      String authority = System.getenv("PGSSLROOTCERT");
      if (authority != null) properties.setProperty("sslrootcert", authority);
      properties.setProperty("ApplicationName", name);
      // Without it the name is set by a statement after the login.
      properties.setProperty("assumeMinServerVersion", "9.0");
      if (!options.isEmpty()) properties.setProperty("options", options);
      String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/";
      return DriverManager.getConnection(url + System.getenv("PGDATABASE"), properties);
    }

    String execute(String statement, int value) throws SQLException {
      statements.get(statement).setInt(1, value);
      return first(statements.get(statement).executeQuery());
    }

    int write(String table) throws SQLException {
      int acknowledged = 0;
      try (PreparedStatement statement = db.prepareStatement("insert into " + table + " (source) values (?)")) {
        while (isLoaded) {
          statement.setString(1, name);
          statement.execute();
          acknowledged++;
        }
      }
      return acknowledged;
    }

    String cancel() throws SQLException {
      try (Statement statement = db.createStatement()) {
        new Thread(() -> {
          try {
            Thread.sleep(300);
            statement.cancel();
          } catch (Exception error) {
            throw new RuntimeException(error);
          }
        }).start();
        statement.executeQuery("select pg_sleep(60)");
        return "no error";
      } catch (SQLException error) {
        return error.getSQLState();
      }
    }
  }

  static String first(ResultSet rows) throws SQLException {
    if (!rows.next()) return "";
    String value = rows.getString(1);
    return value == null ? "" : value;
  }

  static IntStream upTo(String count) {
    return IntStream.rangeClosed(1, Integer.parseInt(count));
  }

  static String of(List<Integer> numbers) {
    return numbers.size() + " " + numbers.stream().mapToLong(Integer::longValue).sum();
  }

  public static void main(String[] none) throws Exception {
    Map<String, Session> sessions = new HashMap<>();
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      String[] request = line.split("\t", -1);
      Session session = sessions.computeIfAbsent(request[2], Session::new);
      String[] words = java.util.Arrays.copyOfRange(request, 3, request.length);
      session.requests.submit(() -> session.answer(request[0], request[1], words));
    }
    Runtime.getRuntime().halt(0);
  }
}

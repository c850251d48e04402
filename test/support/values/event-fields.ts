// Every field of a log line: its type, its unit, its meaning. The source of deploy/log-events.md and of its schema.
type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object';

export interface EventField {
  readonly type: JsonType;
  readonly meaning: string;
}

const text = (meaning: string): EventField => ({ type: 'string', meaning });
const count = (meaning: string): EventField => ({ type: 'integer', meaning });
const list = (meaning: string): EventField => ({ type: 'array', meaning });
const flag = (meaning: string): EventField => ({ type: 'boolean', meaning });
const milliseconds = (meaning: string): EventField => ({ type: 'number', meaning: `Milliseconds. ${meaning}` });
const bytes = (meaning: string): EventField => ({ type: 'integer', meaning: `Bytes. ${meaning}` });

export const EVENT_FIELDS: Readonly<Record<string, EventField>> = {
  action: text('`opened`: the client is connected to a member. `closed`: its connection ended.'),
  added: list('Names of members.'),
  address: text('Host and port.'),
  application: text("The client's `application_name`, cut to 63 bytes and made printable."),
  before: text('The phase that ended.'),
  before_ms: milliseconds('How long that phase took.'),
  by: text('`operator` or `agreement`.'),
  cause: text('Why clients wait (a pool), or why a member is excluded: a key of `on_leave`, or `not_primary`.'),
  changed: list('Keys of the configuration, with the old and the new value where it is a single one.'),
  check: text('The health check, as in the configuration.'),
  client: text('Address and port of the client.'),
  config: text('The configuration file, or `environment`.'),
  contact_points: list('Addresses that are queried for the list of members.'),
  count: count('Lines that this line stands for.'),
  cut: count('Sessions that ended within a transaction.'),
  database: text('From the startup packet, without the name of a pool. Cut to 63 bytes and made printable.'),
  detail: text('A few words of evidence.'),
  drain_timeout_ms: milliseconds('`shutdown.drain_timeout`.'),
  duration_ms: milliseconds('How long it took; of a session: since the client was accepted.'),
  ended: count('Sessions that ended between two transactions.'),
  err: { type: 'object', meaning: 'An unexpected error: `type`, `message`, `stack`.' },
  events_version: count('The version of this page.'),
  expires_at: text('ISO 8601.'),
  failing: { type: 'object', meaning: '`why`, and `for_ms` since the last success.' },
  fallback: text('The pool whose member is used.'),
  file: text('A path.'),
  from: text('The state before; of an operation: the primary at its start.'),
  grace_ms: milliseconds('`shutdown.grace`.'),
  held: count('Clients that waited.'),
  key: text('`known` or `unknown`.'),
  lagging: flag('True: every member of the pool is over its lag limit, and they are used all the same.'),
  limit: count('Open files that the process may have.'),
  lines: count('Lines that were lost.'),
  max_sessions: count('`client.max_sessions`.'),
  member: text('Name of the member.'),
  member_count: count('Members in the list.'),
  members: list('Names of members.'),
  merged: flag('True: within a second of another request, and merged with it.'),
  needs_restart: list('Keys that were not applied.'),
  node_version: text("Node's version."),
  of: text('The event of the lines that are counted.'),
  on: flag('True: from now on. False: no longer.'),
  operation: text('Id of the operation.'),
  outcome: text('How it ended.'),
  phase: text('A phase of the operation.'),
  pid: count('Process id.'),
  pool: text('Name of the pool; `admin` and `console` for those listeners.'),
  primary: text('The primary at the end.'),
  reason: text('Of a session: a [close reason](errors.md). Of a member: the rule that applies.'),
  refusal: text('`timeline` or `system_identifier`.'),
  refused: list('Objects with `name`, `reason` and `why`.'),
  removed: list('Names of members.'),
  replaced_in_ms: milliseconds('Until the next worker starts.'),
  role: text('As the member reports it.'),
  scope: text("The cluster's name."),
  session: count('Number of the client connection, unique within a run.'),
  sessions: count('Client connections.'),
  source: text('Where the list came from, as the operator wrote it.'),
  state: text('Of PostgreSQL, as the member reports it.'),
  timeline: count('As the member reports it.'),
  tls: text("`none`, `terminate` (the client's TLS is with Pointsman) or `passthrough` (with the server)."),
  to: text('The state from now on; of an operation: the wanted primary.'),
  to_backend_bytes: bytes('From the client to the server.'),
  to_client_bytes: bytes('From the server to the client.'),
  triggers: list('Causes of urgent probing.'),
  unlocked: flag('True: the member reports that nobody holds the leader lock.'),
  user: text('From the startup packet. Cut to 63 bytes and made printable.'),
  version: text('Of Pointsman.'),
  waited_ms: milliseconds('How long the client waited.'),
  what: text('The kind of operation.'),
  why: text('The cause, in words.'),
  worker: count('Number of the worker process.'),
};

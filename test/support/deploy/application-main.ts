// An application in a pod, for the pod player. It relies on its database from its first moment to its last. Its one
// argument says what it does. `serve`: run until SIGTERM, and then write once more on a new connection. `stubborn`:
// serve, and never end. `job`: write and exit with 0. `failing-job`: write and exit with 1.
import { Client } from 'pg';

async function connected(): Promise<Client> {
  const client = new Client({ connectionString: process.env['DATABASE_URL'] });
  // The failing statement reports the error; without a listener the event would end the process.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function write(client: Client, what: string): Promise<void> {
  await client.query('insert into direct_writes (member) values ($1)', [what]);
}

const [kind = 'serve'] = process.argv.slice(2);
const isJob = kind === 'job' || kind === 'failing-job';
const session = await connected();
if (!isJob) {
  // Before the row that a test waits for: the test sends SIGTERM as soon as it sees the row.
  process.on('SIGTERM', () => {
    if (kind === 'serve') void parting();
  });
  // Also when the player itself is gone.
  process.stdin.once('close', () => process.exit(3)).resume();
}
await write(session, `${kind}: first`);
if (isJob) {
  await session.end();
  process.exitCode = kind === 'job' ? 0 : 1;
}

async function parting(): Promise<void> {
  const last = await connected();
  await write(last, `${kind}: last`);
  await last.end();
  await session.end();
  process.exit(0);
}

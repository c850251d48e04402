// libpq with all members in its connection string, as one of the peers: the client's library finds the server without a
// proxy. The client is psycopg2, because node-postgres takes one host only.
import { z } from 'zod';
import type { Attempt } from '../../support/applications/connect-load.ts';
import type { PatroniCluster } from '../../support/patroni/cluster.ts';
import { LibpqWorker } from './libpq-worker.ts';
import { LONG_QUERY, type KeptSession, type LongQuery, type Peer } from './peer.ts';
import { insertRow } from './rows.ts';

const NAME = 'libpq multi-host';
/** Seconds per host, as a careful user sets it: without it one silent host would stop the search. */
const CONNECT_TIMEOUT = '5';
const times = z.object({ startedAtMs: z.number(), endedAtMs: z.number() });

export function startLibpq(cluster: PatroniCluster, python: string): Peer {
  const members = cluster.members();
  const { user, password, database: dbname } = cluster.app;
  const host = members.map((member) => member.host).join(',');
  const port = members.map((member) => member.port).join(',');
  const worker = LibpqWorker.start(python, { host, port, user, password, dbname, connect_timeout: CONNECT_TIMEOUT });

  async function write(token: number): Promise<Attempt> {
    const { answer } = await worker.ask({ do: 'write', sql: insertRow(token, NAME) });
    const { server, rowId, error, isConnect } = answer;
    return { ...times.parse(answer), server, rowId, error, connectError: isConnect === true ? error : undefined };
  }

  async function keep(): Promise<KeptSession> {
    const { id, answer } = await worker.ask({ do: 'keep' });
    return {
      server: answer.server ?? '',
      get endedAtMs() {
        return worker.ends.get(id)?.atMs;
      },
      close: () => close(id),
    };
  }

  async function longQuery(): Promise<LongQuery> {
    const { id, answer } = await worker.ask({ do: 'long_query', sql: LONG_QUERY });
    return {
      server: answer.server ?? '',
      get endedWith() {
        return worker.ends.get(id)?.code;
      },
      async cancel() {
        await worker.ask({ do: 'cancel', session: id });
      },
      close: () => close(id),
    };
  }

  async function close(session: number): Promise<void> {
    await worker.ask({ do: 'close', session });
  }

  return {
    name: NAME,
    write,
    keep: (count) => Promise.all(Array.from({ length: count }, keep)),
    longQuery,
    readPort: undefined,
    // libpq has no view of the cluster: each connect queries the members again.
    isSettled: () => Promise.resolve(true),
    log: () => [],
    stop: () => worker.stop(),
  };
}

// The three replicas of a sandbox: real logins, processes and reads.
import { Client } from 'pg';
import { SandboxCluster } from '../../support/clusters/sandbox-cluster.ts';
import { throttle } from '../data-path/throttle.ts';
import type { Delays, Replicas } from './replicas.ts';

const ROWS = 1_000;
const CREATE_ROWS = `create table kept (id int primary key, n int not null);
  insert into kept select id, id from generate_series(1, ${ROWS}) as id`;
/** It sleeps in its server, as if for a disk, and uses hardly any processor. */
const SLEEPING = `select n, inet_server_port() = $2 as slow,
  pg_sleep(case inet_server_port() when $2 then $3 else $4 end::float8) from kept where id = $1`;
/** One or two milliseconds of a processor. */
const WORKING = `select sum(sqrt(a.n)), inet_server_port() = $2 as slow
  from kept a join generate_series(1, 20) as times on a.id <> $1`;

export interface RealReplicasOptions extends Delays {
  /** The slow replica has this part of a processor, for reads and logins, instead of sleeping longer. */
  readonly coreShare?: number;
}

export async function startRealReplicas({ replyMs, slower, coreShare }: RealReplicasOptions): Promise<Replicas> {
  await using ends = new AsyncDisposableStack();
  // A group with processes stays, so it is left behind them.
  const groups = ends.use(new DisposableStack());
  const cluster = ends.adopt(await SandboxCluster.start({ members: 4 }), (one) => one.destroy());
  const primary = await cluster.leader();
  await cluster.sql(primary.name, CREATE_ROWS, { as: cluster.app });
  const replicas = cluster.members().filter(({ name }) => name !== primary.name);
  for (const { name } of replicas) await waitForRows(cluster, name);
  const slow = replicas.at(-1);
  if (slow === undefined) throw new Error('no replica');
  if (coreShare !== undefined) groups.use(throttle([await postmasterOf(cluster, slow.name)], coreShare));
  const [query, more] =
    coreShare === undefined ? [SLEEPING, [(replyMs * slower) / 1000, replyMs / 1000]] : [WORKING, []];
  const sessions = { all: 0, onSlow: 0 };
  const kept = ends.move();
  return {
    members: [primary, ...replicas].map(({ name, api, host, port }) => ({ name, api, postgres: `${host}:${port}` })),
    open: async (port) => {
      const client = new Client({ host: '127.0.0.1', port, ...cluster.app });
      // The query of that moment fails, too, and says it.
      client.on('error', () => undefined);
      await client.connect();
      let hasAsked = false;
      return {
        ask: async () => {
          const id = 1 + Math.floor(Math.random() * ROWS);
          const { rows } = await client.query<{ slow: boolean }>(query, [id, slow.port, ...more]);
          if (hasAsked) return;
          hasAsked = true;
          sessions.all += 1;
          if (rows[0]?.slow === true) sessions.onSlow += 1;
        },
        close: () => client.end(),
      };
    },
    sessions: () => ({ ...sessions }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The servers of its clients are its children, and inherit what it is allowed. */
async function postmasterOf(cluster: SandboxCluster, name: string): Promise<number> {
  const [row] = await cluster.sql(name, `select split_part(pg_read_file('postmaster.pid'), e'\\n', 1)::int as pid`);
  return Number(row?.['pid']);
}

async function waitForRows(cluster: SandboxCluster, name: string): Promise<void> {
  const hasRows = async (): Promise<boolean> => {
    const [row] = await cluster.sql(name, 'select count(*)::int as rows from kept', { as: cluster.app });
    return row?.['rows'] === ROWS;
  };
  await cluster.waitUntil(`the rows on ${name}`, hasRows, 30_000);
}

// Bulk: COPY out of generated rows, and COPY in of rows that the server drops (`where false`), so that the server's own
// work hides little of the path. Rows have 1 kB or 60 bytes.
import { run } from '../child.ts';
import type { Figures, Lab } from '../lab.ts';
import { type Peer, familyOfPeer } from '../peers/peer.ts';
import { clientOf, type Postgres, startPostgres } from '../postgres.ts';
import { processorUs } from '../processes.ts';
import type { Sample } from '../sample.ts';

const ROWS = [
  { name: 'rows of 1 kB', bytes: 1024 },
  { name: 'rows of 60 bytes', bytes: 60 },
];
const MEGABYTE = 1_000_000;

export async function copy(lab: Lab): Promise<readonly Sample[]> {
  await using postgres = await startPostgres();
  await run(clientOf(postgres, 'psql', postgres.port, ['-qc', 'create unlogged table bulk (body text)']));
  await using peers = await lab.peers(postgres.port, { user: postgres.user });
  await lab.place('none', peers.list);
  const { megabytes } = lab.options;
  const samples: Sample[] = [];
  for (const { name, bytes } of ROWS) {
    const rows = Math.round((megabytes * MEGABYTE) / bytes);
    const select = `copy (select repeat('x', ${bytes - 1}) from generate_series(1, ${rows})) to stdout`;
    const out = (peer: Peer) =>
      timed(peer, megabytes, clientOf(postgres, 'psql', peer.port, ['-qo', '/dev/null', '-c', select]));
    const into = (peer: Peer) => timed(peer, megabytes, sending(postgres, peer, bytes, rows));
    for (const peer of peers.list) await out(peer);
    samples.push(...(await lab.inTurn('copy', `out, ${name}`, peers.list, out)));
    samples.push(...(await lab.inTurn('copy', `in, ${name}`, peers.list, into)));
  }
  return samples;
}

/** Starts psql with the rows on its standard input. */
function sending(postgres: Postgres, peer: Peer, bytes: number, rows: number): ReturnType<typeof clientOf> {
  const psql = clientOf(postgres, 'psql', peer.port, []);
  const line = 'x'.repeat(bytes - 1);
  const script = `yes ${line} | head -c ${bytes * rows} | '${psql.command}' -qc 'copy bulk from stdin where false'`;
  return { ...psql, command: 'sh', args: ['-c', script] };
}

async function timed(peer: Peer, megabytes: number, client: ReturnType<typeof clientOf>): Promise<Figures> {
  const family = familyOfPeer(peer);
  const [before, begin] = [processorUs(family), performance.now()];
  await run(client);
  const seconds = (performance.now() - begin) / 1000;
  const cpu = peer.pid === undefined ? {} : { 'CPU per MB, µs': (processorUs(family) - before) / megabytes };
  return { ...cpu, 'MB per s': megabytes / seconds };
}

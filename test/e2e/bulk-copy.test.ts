// COPY of 1 GiB through Pointsman: out of the primary, into it, and out of a replica. The checksums are equal. Less of
// it with TLS on both legs, which other streams carry.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, it } from 'vitest';
import { runTool, startTool } from '../support/applications/client-tools.ts';
import { clusterWithPointsman } from '../support/clusters/cluster-with-pointsman.ts';
import type { Legs } from '../support/clusters/describe-on-clusters.ts';
import { describeOnPatroni } from '../support/patroni/describe-on-patroni.ts';
import { startPatroniCluster } from '../support/patroni/start-cluster.ts';

/** Each has 1 kB: a little more than 1 GiB, and 256 MiB. */
const ROWS = { plain: 1_080_000, encrypted: 270_000 };
const QUIET = ['-X', '-q', '-v', 'ON_ERROR_STOP=1'];

describeOnPatroni('COPY of 1 GiB, on Patroni', () => copies('plain'));
describeOnPatroni('COPY of 256 MiB, encrypted on both legs, on Patroni', () => copies('encrypted'));

function copies(legs: Legs): void {
  const tls = legs === 'encrypted';
  const lab = clusterWithPointsman(() => startPatroniCluster({ tls, parameters: { max_wal_size: '4GB' } }));

  async function at(pool: string) {
    return { port: await lab.pointsman.port(pool), as: lab.cluster.app };
  }

  it('out, in, and out again from a replica: equal checksums', async () => {
    const generator = `copy (select i, repeat(md5(i::text), 31) || 'tail'
      from generate_series(1, ${ROWS[legs]}) i) to stdout`;
    await runTool('psql', await at('write'), [...QUIET, '-c', 'create table bulk (i bigint, body text)']);

    const out = startTool('psql', await at('write'), [...QUIET, '-c', generator]);
    const sent = new Digest();
    const input = Readable.from(sent.passing(out.stdout), { objectMode: false });
    const into = startTool('psql', await at('write'), [...QUIET, '-c', 'copy bulk from stdin'], input);
    await Promise.all([out.done, into.done]);
    expect(sent.bytes()).toBeGreaterThan(ROWS[legs] * 994);

    const hasAll = `select count(*) = ${ROWS[legs]} and pg_is_in_recovery() from bulk`;
    const askReplica = async () => runTool('psql', await at('read'), [...QUIET, '-At', '-c', hasAll]).catch(() => '');
    await lab.pointsman.waitFor('a replica that has it all', async () => (await askReplica()) === 't', 120_000);
    // Otherwise the scan may start in the middle of the table, where the scan of the wait has just been.
    const inOrder = ['-c', 'set synchronize_seqscans = off', '-c', 'copy bulk to stdout'];
    const back = startTool('psql', await at('read'), [...QUIET, ...inOrder]);
    const received = new Digest();
    await Promise.all([finished(Readable.from(received.passing(back.stdout)).resume()), back.done]);
    expect(received.bytes()).toBe(sent.bytes());
    expect(received.sha256()).toBe(sent.sha256());
  }, 300_000);
}

class Digest {
  readonly #hash = createHash('sha256');
  #bytes = 0;

  /** Passes the chunks on and adds them to the digest. */
  async *passing(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const chunk of chunks) {
      this.#hash.update(chunk);
      this.#bytes += chunk.length;
      yield chunk;
    }
  }

  bytes(): number {
    return this.#bytes;
  }

  /** May be called once, at the end. */
  sha256(): string {
    return this.#hash.digest('hex');
  }
}

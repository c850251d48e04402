// The main job with the field's own tools: psql and pgbench through both listeners of a real cluster. Scenario 1, scenario 5, and
// bytes that arrive as they were sent.
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { clusterWithPointsman } from '../support/cluster-with-pointsman.ts';
import { HeldSession } from '../support/held-session.ts';
import { patroniAvailability } from '../support/patroni/availability.ts';
import { describeOnPatroni } from '../support/patroni/describe-on-patroni.ts';

const GIBIBYTE = 2 ** 30;
/** Rows of 1 kB: a little more than 1 GiB. */
const COPY_ROWS = 1_080_000;

describeOnPatroni('the main job', () => {
  const lab = clusterWithPointsman({ cluster: { parameters: { max_wal_size: '4GB' } } });

  function tool(name: string, args: readonly string[], input?: Readable) {
    const availability = patroniAvailability();
    if (!availability.available) throw new Error(availability.howToInstall);
    const child = spawn(join(availability.installation.postgresBinDir, name), args, {
      env: { PGPASSWORD: lab.cluster.app.password, PGUSER: lab.cluster.app.user, PGDATABASE: lab.cluster.app.database },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const errors: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
    const done = new Promise<void>((resolve, reject) => {
      child.once('close', (code) => {
        if (code === 0) resolve();
        else reject(new Error(`${name} ended with ${code}: ${errors.join('')}\n${lab.pointsman.explain()}`));
      });
    });
    if (input === undefined) child.stdin.end();
    else pipeline(input, child.stdin).catch(() => undefined);
    return { stdout: child.stdout, done };
  }

  async function run(name: string, args: readonly string[]): Promise<string> {
    const { stdout, done } = tool(name, args);
    const chunks: Buffer[] = [];
    stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    await done;
    return Buffer.concat(chunks).toString().trim();
  }

  async function at(pool: string): Promise<string[]> {
    return ['-h', '127.0.0.1', '-p', String(await lab.pointsman.port(pool))];
  }

  it('scenario 1: the first write client lands on the primary, though it came before the first round', async () => {
    const leader = await lab.cluster.leader();
    const first = await HeldSession.open(await lab.pointsman.port('write'), lab.cluster.app);
    expect(first.server).toBe(leader.host);
    await first.close();
    await lab.pointsman.waitUntilReady();
  });

  it('psql writes through the write listener and reads it through the read listener, from a replica', async () => {
    const psql = ['-X', '-v', 'ON_ERROR_STOP=1', '-At'];
    await run('psql', [...(await at('write')), ...psql, '-c', "create table greeting as select 'hello' as word"]);
    expect(await run('psql', [...(await at('write')), ...psql, '-c', 'select pg_is_in_recovery()'])).toBe('f');
    const read = [...(await at('read')), ...psql];
    expect(await run('psql', [...read, '-c', 'select pg_is_in_recovery()'])).toBe('t');
    const word = () => run('psql', [...read, '-c', 'select word from greeting']).catch(() => '');
    await lab.pointsman.waitFor(
      'the row on every replica',
      async () => (await word()) === 'hello' && (await word()) === 'hello',
    );
  });

  it.each(['simple', 'extended', 'prepared'])('pgbench, %s protocol, through both listeners', async (protocol) => {
    if (protocol === 'simple') await run('pgbench', [...(await at('write')), '-i', '-q', '-s', '1']);
    const options = ['-M', protocol, '-c', '8', '-t', '100', '-n'];
    expect(await run('pgbench', [...(await at('write')), ...options])).toContain('number of failed transactions: 0');
    await lab.pointsman.waitFor('pgbench tables on the replicas', async () => {
      const sql = 'select count(*) = 2 from pg_stat_replication where replay_lsn >= pg_current_wal_flush_lsn()';
      const rows = await lab.cluster.sql((await lab.cluster.leader()).name, sql);
      return Object.values(rows[0] ?? {})[0] === true;
    });
    expect(await run('pgbench', [...(await at('read')), ...options, '-S'])).toContain(
      'number of failed transactions: 0',
    );
  });

  it('COPY of 1 GiB out, in, and out again from a replica: equal checksums', async () => {
    const psql = ['-X', '-q', '-v', 'ON_ERROR_STOP=1'];
    const generator = `copy (select i, repeat(md5(i::text), 31) || 'tail' from generate_series(1, ${COPY_ROWS}) i) to stdout`;
    await run('psql', [...(await at('write')), ...psql, '-c', 'create table bulk (i bigint, body text)']);

    const out = tool('psql', [...(await at('write')), ...psql, '-c', generator]);
    const branch = new PassThrough();
    const [sent] = await Promise.all([
      digest(
        out.stdout
          .on('data', (chunk: Buffer) => {
            if (!branch.write(chunk)) {
              out.stdout.pause();
              branch.once('drain', () => out.stdout.resume());
            }
          })
          .on('end', () => branch.end()),
      ),
      tool('psql', [...(await at('write')), ...psql, '-c', 'copy bulk from stdin'], branch).done,
      out.done,
    ]);
    expect(sent.bytes).toBeGreaterThan(GIBIBYTE);

    await lab.pointsman.waitFor(
      'a replica that has it all',
      async () => {
        const args = [
          ...(await at('read')),
          ...psql,
          '-At',
          '-c',
          `select count(*) = ${COPY_ROWS} and pg_is_in_recovery() from bulk`,
        ];
        return (await run('psql', args).catch(() => '')) === 't';
      },
      120_000,
    );
    // Else a scan may begin in the middle, where the one of the wait before it has just been.
    const back = tool('psql', [
      ...(await at('read')),
      ...psql,
      '-c',
      'set synchronize_seqscans = off',
      '-c',
      'copy bulk to stdout',
    ]);
    const [received] = await Promise.all([digest(back.stdout), back.done]);
    expect(received).toEqual(sent);
  }, 300_000);

  it('scenario 5: PostgreSQL restarts in place: clients that connect meanwhile are held and succeed', async () => {
    const port = await lab.pointsman.port('write');
    const leader = await lab.cluster.leader();
    const live = await HeldSession.open(port, lab.cluster.app);
    const restart = fetch(`${leader.api}/restart`, { method: 'POST', body: '{}' });
    await lab.pointsman.waitFor('the end of the live session', () => live.endedAtMs !== undefined);
    const held = await HeldSession.open(port, lab.cluster.app);
    expect(held.server).toBe(leader.host);
    await held.close();
    expect((await restart).status).toBe(200);
  });
});

async function digest(stream: Readable): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}

// deploy/patroni-callback.sh as a real Patroni runs it. Probes are rare here, and no session is open whose end would
// report a switchover: only the callback can make Pointsman follow it soon.
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PatroniCluster } from '../support/patroni/cluster.ts';
import { describeOnPatroni } from '../support/patroni/describe-on-patroni.ts';
import { findFreePorts } from '../support/sockets/free-ports.ts';
import { startPatroniCluster } from '../support/patroni/start-cluster.ts';
import { configFor } from '../support/processes/pointsman-config.ts';
import { startPointsman } from '../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../support/processes/pointsman-process.ts';

const RARELY = { interval: '60s', write_max_age: '90s', read_max_age: '90s', silence_grace: '120s' };

describeOnPatroni('a callback of Patroni', () => {
  let directory: string;
  let cluster: PatroniCluster;
  let pointsman: PointsmanProcess;

  beforeAll(async () => {
    const [port] = await findFreePorts(1, ['127.0.0.1']);
    directory = await mkdtemp(join(tmpdir(), 'pointsman-callback-'));
    const [script, token] = [join(directory, 'callback.sh'), join(directory, 'token')];
    await chmod(directory, 0o755);
    await copyFile(new URL('../../deploy/patroni-callback.sh', import.meta.url), script);
    await chmod(script, 0o755);
    await writeFile(token, '0123456789abcdef-callback\n', { mode: 0o644 });
    const command = `${script} http://127.0.0.1:${port} ${token}`;
    cluster = await startPatroniCluster({ callbacks: { on_role_change: command, on_start: command } });
    const admin = { address: `127.0.0.1:${port}`, token_file: token };
    pointsman = await startPointsman(configFor(cluster, { admin, probe: RARELY }));
    await pointsman.waitUntilReady();
  });

  afterAll(async () => {
    await pointsman.stop();
    await cluster.destroy();
    await rm(directory, { recursive: true });
  });

  it('makes Pointsman follow a switchover long before its next probe', async () => {
    const next = await cluster.switchover();
    await pointsman.waitFor('the next primary', () =>
      pointsman.lines.some(({ event, msg }) => event === 'route_changed' && msg === `pool write: open on ${next.name}`),
    );
    expect(pointsman.lines.map(({ event }) => event)).toContain('refresh_requested');
  });
});

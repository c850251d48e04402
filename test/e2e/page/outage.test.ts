// A real outage on every surface: log, incident, /timeline, /status, command line and page show one incident with the
// same numbers.
import { afterEach, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/program.ts';
import { incidentDocument } from '../../../src/incidents/schema.ts';
import { HeldSession } from '../../support/applications/held-session.ts';
import { describeInBrowser } from '../../support/browser/chromium.ts';
import { pageLab } from '../../support/browser/page-lab.ts';
import { replicasOf } from '../../support/clusters/pool-members.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';

const LONG_MS = 60_000;

describeInBrowser('an outage', () => {
  // A member that a busy machine keeps silent for some seconds is no second interruption.
  const lab = pageLab({ probe: { write_max_age: '30s', silence_grace: '60s' } });
  const sessions: HeldSession[] = [];
  afterEach(async () => {
    for (const one of sessions.splice(0)) await one.close();
  });

  it('is the same incident with the same numbers everywhere', async () => {
    const { cluster, pointsman } = lab;
    await cluster.waitUntilHealthy();
    const tab = await lab.open();
    const port = await pointsman.port('write');
    sessions.push(await HeldSession.open(port, cluster.app));
    const { name: old } = await cluster.leader();
    const replicas = await replicasOf(cluster);
    // Nobody is promoted until a client waits.
    for (const { name } of replicas) await cluster.freezeManager(name);
    const before = pointsman.lines.length;
    const since = () => pointsman.lines.slice(before).filter(({ pool }) => pool === 'write');
    await cluster.kill(old);
    await pointsman.waitFor('the loss of the route', () =>
      since().some(({ event, to }) => event === 'route_changed' && to === 'hold'),
    );
    const second = HeldSession.open(port, cluster.app);
    const waiting = 'pointsman_held_clients{pool="write"}';
    await pointsman.waitFor('a client that waits', async () => (await pointsman.metric(waiting)) === 1);
    for (const { name } of replicas) await cluster.thawManager(name);
    sessions.push(await second);
    const { name: next } = await cluster.leader();
    const line = await pointsman.waitFor(
      'its line in the log',
      () => since().find(({ event }) => event === 'outage_summary'),
      LONG_MS,
    );
    const ms = Number(line['duration_ms']);
    const id = String(line['incident']);
    expect(line).toMatchObject({ level: 'warn', final: false, planned: 'unplanned', interruptions: 1, held: 1 });
    expect(line['closed_sessions']).toBeGreaterThanOrEqual(1);
    expect(line['msg']).toMatch(
      new RegExp(`^pool write: no route for .* \\(${old} .*, ${next} is primary.*: 1 client held, .*; incident ${id}$`),
    );

    const json = async (path: string) => JSON.parse((await pointsman.admin(path)).text);
    const { api_version: _, ...given } = await json(`/incidents/${id}`);
    const document = incidentDocument.parse(given);
    const noRoute = document.findings.find((one) => one.finding === 'no_route' && one.pool === 'write');
    expect(noRoute).toMatchObject({ seconds: ms / 1000 });
    expect(document.findings).toContainEqual(expect.objectContaining({ finding: 'holds', pool: 'write', count: 1 }));

    const { spans } = await json('/timeline');
    const span = spans.find(({ kind, pool }: Record<string, unknown>) => kind === 'no_route' && pool === 'write');
    expect(span).toMatchObject({ incident_id: id, severity: 'error' });
    // Each time is cut to the millisecond.
    expect(Math.abs(Date.parse(span.to) - Date.parse(span.from) - ms)).toBeLessThanOrEqual(2);
    const { cluster: shown } = await json('/status');
    expect(shown.last_interruption).toMatchObject({ pool: 'write', incident_id: id });
    expect(shown.last_interruption.seconds).toBeCloseTo(ms / 1000, 1);

    expect(await cli('list')).toContain(id);
    expect(await cli('show', id)).toContain(document.summary);

    const { page } = tab;
    const link = page.getByRole('link', { name: id, exact: true }).first();
    await link.waitFor({ timeout: LONG_MS });
    await link.click();
    await page.getByRole('heading', { name: `Incident ${id}` }).waitFor();
    await page
      .getByText(noRoute?.text ?? '', { exact: false })
      .first()
      .waitFor();
    await tab.screenshot('outage');
  });

  async function cli(...argv: readonly string[]): Promise<string> {
    let out = '';
    const address = `127.0.0.1:${await lab.pointsman.port('admin')}`;
    const io = { env: {}, stdout: (text: string) => void (out += text), stderr: (text: string) => void (out += text) };
    expect(await runCli(['incidents', ...argv, '--admin', address], io, cliParts())).toBe(0);
    return out;
  }
});

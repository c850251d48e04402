// An agent on the real status page of a Pointsman before a sandbox: it looks, opens the dialog of a switchover, and a
// person has to confirm it.
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { computerSession, contents, imageSize } from '../support/browser/computer-session.ts';
import type { ComputerSession } from '../support/browser/computer-session.ts';
import { describeInBrowser } from '../support/browser/chromium.ts';
import { headerShows, pageLab } from '../support/browser/page-lab.ts';
import { waitForCandidates } from '../support/clusters/candidates.ts';
import { processesOf } from '../support/processes/leftovers.ts';
import { until } from '../support/waiting/until.ts';
import { MAIN } from '../support/processes/program.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';

type Results = Awaited<ReturnType<ComputerSession['turn']>>;

/** The agent's screen. */
const SAME_SCREEN = { viewport: { width: 1280, height: 800 } };

describeInBrowser('an agent on the status page', () => {
  const lab = pageLab();
  beforeEach(() => waitForCandidates(lab));

  const sessions: ComputerSession[] = [];
  afterEach(async () => {
    for (const one of sessions.splice(0)) await one.end();
  });

  async function start(...options: readonly string[]): Promise<ComputerSession> {
    const session = computerSession(await url(), ...options);
    sessions.push(session);
    return session;
  }

  async function url(): Promise<string> {
    return `http://127.0.0.1:${await lab.pointsman.port('admin')}/`;
  }

  /** A person's tab with the same layout, at its end: an agent reads positions from screenshots. */
  async function sameLayout(): Promise<Page> {
    const { page } = await lab.open(SAME_SCREEN);
    await headerShows(page, 'primary', (await lab.cluster.leader()).name);
    return page;
  }

  it('looks, waits and reads closely', async () => {
    const session = await start();
    const results = await session.turn(
      ['screenshot'],
      ['wait', { duration: 1 }],
      ['zoom', { region: [0, 0, 640, 400] }],
    );
    expect(results.map(({ is_error }) => is_error)).toEqual([false, false, false]);
    expect([results[0], results[2]].map((result) => result && imageSize(result))).toEqual([
      [1280, 800],
      [1280, 800],
    ]);
    expect(await session.end()).toBe(0);
  });

  it('opens the switchover, and is told that a person confirms it', async () => {
    const { name: primary } = await lab.cluster.leader();
    const page = await sameLayout();
    const session = await start();
    const confirmed = await until('the confirmation', () => confirmIn(page, session, 'Switch over …'), 100_000);
    expect(confirmed.map(({ is_error }) => is_error)).toEqual([false, false, true, true, true]);
    const [, typed, held, ...rest] = contents(confirmed);
    expect(typed).toBe(`typed ${ADMIN_TOKEN.length} characters`);
    expect(held).toBe(
      'Held back, nothing was sent: POST /switchover {"transaction_timeout_ms":10000}. ' +
        'A person runs: pointsman switchover --transaction-timeout 10s',
    );
    expect(rest.every((text) => text.startsWith('Not executed: an earlier computer action of this turn'))).toBe(true);
    expect(await session.end()).toBe(0);
    expect((await lab.cluster.leader()).name).toBe(primary);
    expect(JSON.parse((await lab.pointsman.admin('/operations')).text).operations).toEqual([]);
  });

  it('probes all members when operations are allowed and the agent has the token', async () => {
    const page = await sameLayout();
    const session = await start('--allow-operations');
    const { lines } = lab.pointsman;
    await until(
      'the round of probes',
      async () => {
        const results = await confirmIn(page, session, 'Probe now …');
        expect(results).toBe(false);
        return lines.some((line) => line['event'] === 'refresh_requested');
      },
      100_000,
    );
    expect(await session.end()).toBe(0);
  });

  it('as a program it has turns in and results out, and Ctrl-C leaves nothing behind', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'pointsman-agent-'));
    await lab.pointsman.waitUntilReady();
    const child = spawn(process.execPath, [MAIN, 'computer', '--url', await url()], {
      env: { PATH: process.env['PATH'], TMPDIR: directory, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => void (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => void (err += chunk.toString()));
    const ended = new Promise((resolve) => {
      child.once('close', resolve);
    });
    child.stdin.write(`${JSON.stringify([{ type: 'tool_use', id: 'toolu_a', name: 'cursor_position' }])}\n`);
    await until('the first results', () => out.includes('\n') || child.exitCode !== null, 60_000);
    expect(JSON.parse(out), err).toMatchObject([{ tool_use_id: 'toolu_a', is_error: false, content: 'X=0,Y=0' }]);
    const long = { type: 'tool_use', id: 'toolu_b', name: 'wait', input: { duration: 300 } };
    child.stdin.write(`${JSON.stringify([long])}\n`);
    child.kill('SIGINT');
    expect(await ended, err).toBe(130);
    expect(await readdir(directory)).toEqual([]);
    await until('the end of the browser', () => processesOf(directory).length === 0);
    await rm(directory, { recursive: true });
  });
});

/** Opens a dialog and confirms it. False: nothing failed, also when the page was not ready for it. */
async function confirmIn(page: Page, session: ComputerSession, button: string): Promise<false | Results> {
  await page.keyboard.press('Escape');
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  const opener = page.getByRole('button', { name: button });
  const opening = await session.turn(
    ['key', { text: 'Escape' }],
    ['scroll', { coordinate: [640, 700], scroll_direction: 'down', scroll_amount: 100 }],
    ['wait', { duration: 1 }],
    ['left_click', await at(opener)],
    ['wait', { duration: 1 }],
  );
  expect(opening.filter(({ is_error }) => is_error)).toEqual([]);
  await opener.click();
  await page
    .getByRole('dialog')
    .locator('button:enabled', { hasText: /^(?:Switch over|Probe now)$/ })
    .waitFor();
  const results = await session.turn(
    ['left_click', await at(page.getByLabel('Admin token'))],
    ['type', { text: ADMIN_TOKEN }],
    ['key', { text: 'Return' }],
    ['screenshot'],
    ['wait', { duration: 1 }],
  );
  return results.some(({ is_error }) => is_error) && results;
}

/** The middle of an element, as the input of a click. */
async function at(element: Locator): Promise<{ readonly coordinate: readonly [number, number] }> {
  const box = await element.boundingBox({ timeout: 30_000 });
  if (box === null) throw new Error('the element has no place on the screen');
  return { coordinate: [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)] };
}

// `pointsman computer` in a real Chromium: each member of the toolset, by the events that it causes on a page, and what
// the page may send.
import { createServer } from 'node:http';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { MEMBERS } from '../../../src/platform/computer/tool-members.ts';
import { computerSession, contents, imageSize } from '../../support/browser/computer-session.ts';
import type { ComputerSession } from '../../support/browser/computer-session.ts';
import { close, listen } from '../../support/sockets/listen.ts';
import { describeInBrowser } from '../../support/browser/chromium.ts';
import { startLoggingPage } from '../../support/browser/logging-page.ts';
import type { LoggingPage } from '../../support/browser/logging-page.ts';
import { processesOf } from '../../support/processes/leftovers.ts';
import { until } from '../../support/waiting/until.ts';

const FIELD = { coordinate: [150, 120] };
const CHANGE = { coordinate: [150, 220] };
const NEW_TAB = { coordinate: [150, 310] };
const BEACON = { coordinate: [150, 520] };
const OTHER_ORIGIN = { coordinate: [150, 420] };
const FREE = { coordinate: [600, 500] };

/** The effect of each member: the lines that the page logs, and the text for the agent. */
const EFFECTS: Readonly<Record<string, { input?: object; logs: readonly string[]; says: string }>> = {
  screenshot: { logs: [], says: 'image' },
  zoom: { input: { region: [100, 100, 300, 140] }, logs: [], says: 'image' },
  left_click: {
    input: { ...FREE, text: 'shift' },
    logs: ['mousedown 0 1 600 500 shift', 'mouseup 0 1 600 500 shift', 'click 0 1 600 500 shift'],
    says: 'left_click at X=600,Y=500',
  },
  right_click: { input: FREE, logs: ['mousedown 2 1 600 500', 'contextmenu 2 0 600 500'], says: 'right_click at' },
  middle_click: { input: FREE, logs: ['mousedown 1 1 600 500', 'auxclick 1 1 600 500'], says: 'middle_click at' },
  double_click: { input: FREE, logs: ['click 0 1 600 500', 'click 0 2 600 500', 'dblclick'], says: 'double_click at' },
  triple_click: { input: FREE, logs: ['dblclick 0 2 600 500', 'click 0 3 600 500'], says: 'triple_click at' },
  mouse_move: { input: { coordinate: [7, 8] }, logs: ['mousemove 7 8 0'], says: 'the pointer is at X=7,Y=8' },
  left_click_drag: {
    input: { start_coordinate: [600, 500], coordinate: [700, 600] },
    logs: ['mousedown 0 1 600 500', 'mousemove 650 550 1', 'mousemove 700 600 1', 'mouseup 0 1 700 600'],
    says: 'dragged from X=600,Y=500 to X=700,Y=600',
  },
  left_mouse_down: { input: FREE, logs: ['mousedown 0 1 600 500'], says: 'left_mouse_down at X=600,Y=500' },
  left_mouse_up: { input: FREE, logs: ['mouseup 0'], says: 'left_mouse_up at X=600,Y=500' },
  cursor_position: { logs: [], says: 'X=' },
  scroll: {
    input: { ...FREE, scroll_direction: 'down', scroll_amount: 3 },
    logs: ['wheel 0 '],
    says: 'scrolled down by 3 at X=600,Y=500',
  },
  type: { input: { text: 'ab' }, logs: ['keydown a', 'keyup a', 'keydown b', 'keyup b'], says: 'typed 2 characters' },
  key: {
    input: { text: 'Tab shift+Home Page_Down' },
    logs: ['keydown Tab', 'keydown Shift', 'keydown Home', 'keyup Home', 'keyup Shift', 'keydown PageDown'],
    says: 'pressed Tab Shift+Home PageDown',
  },
  hold_key: {
    input: { text: 'ctrl', duration: 0.1 },
    logs: ['keydown Control', 'keyup Control'],
    says: 'held Control',
  },
  wait: { input: { duration: 0.1 }, logs: [], says: 'waited 0.1 s' },
};

describeInBrowser('each member of the computer toolset', () => {
  let page: LoggingPage;
  let session: ComputerSession;
  beforeAll(async () => {
    page = await startLoggingPage();
    session = computerSession(page.url);
  });
  afterAll(async () => {
    await session.end();
    await page.close();
  });

  it.each(MEMBERS)('%s', async (member) => {
    const { input = {}, logs, says } = EFFECTS[member] ?? { logs: [], says: 'not in the table' };
    const before = page.lines().length;
    const results = await session.turn([member, input]);
    expect(results).toMatchObject([
      { type: 'tool_result', tool_use_id: 'toolu_1', toolset_name: 'computer', is_error: false },
    ]);
    expect(contents(results)[0]).toContain(says);
    await logged(logs, () => page.lines().slice(before));
  });
});

describeInBrowser('the computer toolset', () => {
  let page: LoggingPage;
  let elsewhere: LoggingPage;
  let session: ComputerSession;
  let temporary: string;
  beforeEach(async () => {
    temporary = mkdtempSync(join(tmpdir(), 'pointsman-toolset-'));
    vi.stubEnv('TMPDIR', temporary);
    elsewhere = await startLoggingPage();
    page = await startLoggingPage(elsewhere.url);
  });
  afterEach(async () => {
    // First: other files share this process.
    vi.unstubAllEnvs();
    const code = await session.end();
    await page.close();
    await elsewhere.close();
    expect(code, session.err()).toBe(0);
    expect(readdirSync(temporary)).toEqual([]);
    await until('the end of the browser', () => processesOf(temporary).length === 0);
    rmSync(temporary, { recursive: true });
  });

  it('a screenshot has the pixels of the positions, and zoom shows an area with more of them', async () => {
    session = computerSession(page.url);
    const [whole, area] = await session.turn(['screenshot'], ['zoom', { region: [100, 100, 300, 140] }]);
    expect(whole && imageSize(whole)).toEqual([1280, 800]);
    expect(area && imageSize(area)).toEqual([400, 80]);
  });

  it('clicks into a field, types, and replaces the text, all in one turn and in order', async () => {
    session = computerSession(page.url);
    const results = await session.turn(
      ['left_click', FIELD],
      ['type', { text: 'first é\t' }],
      ['triple_click', FIELD],
      ['type', { text: 'x' }],
      ['key', { text: 'Return' }],
    );
    expect(results.map(({ is_error }) => is_error)).toEqual([false, false, false, false, false]);
    await logged(['value first é', 'value x', 'keydown Enter'], page.lines);
  });

  it('after a failure in the middle the other blocks get an error, and nothing of them happens', async () => {
    session = computerSession(page.url);
    const results = await session.turn(
      ['left_click', FIELD],
      ['left_click', { coordinate: [5000, 1] }],
      ['type', { text: 'never' }],
      ['screenshot'],
    );
    expect(results.map(({ tool_use_id, is_error }) => [tool_use_id, is_error])).toEqual([
      ['toolu_1', false],
      ['toolu_2', true],
      ['toolu_3', true],
      ['toolu_4', true],
    ]);
    const [, wrong, ...rest] = contents(results);
    expect(wrong).toBe('coordinate [5000, 1] is outside of the screen: x is below 1280, y below 800');
    expect(new Set(rest)).toEqual(new Set(['Not executed: an earlier computer action of this turn failed (toolu_2).']));
    // The next turn begins anew.
    expect(contents(await session.turn(['type', { text: 'y' }]))).toEqual(['typed 1 characters']);
    await until('the text', () => page.lines().includes('value y'));
    expect(page.lines().join('\n')).not.toContain('keydown n');
  });

  it('holds back what would change something, and says which command a person can run', async () => {
    session = computerSession(page.url);
    const results = await session.turn(['left_click', CHANGE], ['screenshot']);
    const [held, rest] = contents(results);
    expect(held).toBe('Held back, nothing was sent: POST /members/pg-2/drain {}. A person runs: pointsman drain pg-2');
    expect(rest).toContain('Not executed');
    expect(session.err()).toContain('operations are held back');
    const line = await until('the answer on the page', () => page.lines().find((one) => one.startsWith('answer')));
    expect(line).toBe(`answer 403 ${JSON.stringify({ error: held })}`);
    expect(page.requests()).toEqual(['GET /']);
  });

  it('holds back what a page sends beside its scripts, too', async () => {
    session = computerSession(page.url);
    const [held] = contents(await session.turn(['left_click', BEACON]));
    expect(held).toMatch(/^Held back, nothing was sent: POST \/beacon/);
    expect(page.requests()).toEqual(['GET /']);
  });

  it('sends it with --allow-operations', async () => {
    session = computerSession(page.url, '--allow-operations');
    const [result] = await session.turn(['left_click', CHANGE]);
    expect(result).toMatchObject({ is_error: false });
    await until('the answer on the page', () => page.lines().some((one) => one.startsWith('answer 200')));
    expect(page.requests()).toEqual(['GET /', 'POST /members/pg-2/drain']);
  });

  it('reaches no other origin, and stays on the page', async () => {
    session = computerSession(page.url, '--allow-operations');
    await session.turn(['left_click', OTHER_ORIGIN], ['left_click', NEW_TAB]);
    await logged(['redirect failed', 'other failed'], page.lines);
    await session.turn(['left_click', FIELD], ['type', { text: 'z' }]);
    await until('the page', () => page.lines().includes('value z'));
    expect(elsewhere.requests()).toEqual([]);
  });

  it('a page that cannot be shown: exit code 1, with the reason that its server gives', async () => {
    const server = createServer((_request, response) =>
      response.writeHead(503, { 'content-type': 'text/plain' }).end('The page is not built.\nMore lines.\n'),
    );
    const url = `http://127.0.0.1:${await listen(server)}/`;
    try {
      const refused = computerSession(url);
      expect(await refused.end()).toBe(1);
      expect(refused.err()).toBe(`pointsman: ${url} answered 503: The page is not built.\n`);
    } finally {
      await close(server);
    }
  });
});

/** Resolves when each of `wanted` begins a line, in this order. */
async function logged(wanted: readonly string[], lines: () => readonly string[]): Promise<void> {
  await until('the events', () => inOrder(wanted, lines())).catch(() => expect(lines()).toEqual(wanted));
}

function inOrder(wanted: readonly string[], lines: readonly string[]): boolean {
  let next = 0;
  for (const line of lines) if (line.startsWith(wanted[next] ?? '\n')) next += 1;
  return next === wanted.length;
}

// Twelve members with names as long as hosts may have, in four pools: each can be told from the others at every width,
// and nothing is cut or overlaps.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { Admin } from '../../../src/admin/admin-server.ts';
import { LiveStatus } from '../../../src/admin/live-status.ts';
import { RecentEvents } from '../../../src/admin/recent-events.ts';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import { buildStatus } from '../../../src/admin/status.ts';
import { pageDirectory } from '../../../src/app/package.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { EventIds } from '../../../src/reports/event-ids.ts';
import { seriousFindings } from '../../support/browser/accessibility.ts';
import { describeInBrowser, inBrowser } from '../../support/browser/chromium.ts';
import { connection } from '../../support/browser/page-lab.ts';
import { openTab, PHONE } from '../../support/browser/tab.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import * as make from '../../support/values/builders.ts';
import { DecidedHistory } from '../../support/values/decided-history.ts';
import { STATUS_BASICS } from '../../support/values/status-basics.ts';
import { systemClock } from '../../support/waiting/system-clock.ts';

const NAMES = Array.from({ length: 12 }, (_, index) => {
  const own = `${'abc'[index % 3]}-${String(index).padStart(2, '0')}`;
  return `orders-postgresql-production-eu-west-1-${own}.orders-db-headlessly`;
});
const [PRIMARY = '', ...REPLICAS] = NAMES;
const REPORTS = '/replica?tag_reports=true';
const POLICY = make.aPolicy({
  pools: [
    make.aWritePool(),
    make.aPool({ fallback: { pool: 'write', maxSessions: 50 } }),
    make.aPool({ name: 'reports-and-analytics', check: REPORTS }),
    make.aPool({ name: 'synchronous', check: '/synchronous' }),
  ],
});
const BODY = { role: 'replica', state: 'running', timeline: 1, replayed: 100 * make.MB } as const;
const SNAPSHOT = make.aSnapshot(
  POLICY,
  make.aList(0, ...NAMES),
  make.isPrimary(PRIMARY, 0),
  ...REPLICAS.flatMap((member, index) => [
    make.isReplica(member, 0, index === 3 ? { replayed: 0 } : {}),
    make.answered({ member, check: REPORTS, status: index % 2 === 0 ? 200 : 503, body: BODY }),
    make.answered({ member, check: '/synchronous', status: index < 2 ? 200 : 503, body: BODY }),
  ]),
);
const TABLE = decideRoutes(POLICY, SNAPSHOT, 500);
const HISTORY = new DecidedHistory(POLICY, { epoch: Date.now() - 500 }).take(SNAPSHOT, TABLE).history;

function read() {
  const more = { pools: POLICY.pools, table: TABLE, snapshot: SNAPSHOT, history: HISTORY, counts: new Map() };
  return buildStatus({ ...STATUS_BASICS, ...more, now: 500 });
}

/** In the picture and the table. One pixel is rounding. */
const CUT = `[...document.querySelectorAll('.routes b, .routes-facts, .routes-label, .members .reason-button')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
  .map((one) => one.innerText)`;
const OVERLAPPING = `[...document.querySelectorAll('.routes-label')].flatMap((label) => {
  const a = label.getBoundingClientRect();
  return [...document.querySelectorAll('.routes-pool > *')]
    .map((one) => [one, one.getBoundingClientRect()])
    .filter(([, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom - 1 && b.top + 1 < a.bottom)
    .map(([one]) => one.innerText + ' and ' + label.innerText);
})`;

const EXCESS = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(
  document.querySelector('.members').parentElement)`;

/** Each once. */
async function textsOf(page: Page, selector: string): Promise<readonly string[]> {
  return [...new Set(await page.locator(selector).allInnerTexts())];
}

const LOOKS = [
  ['1280', {}],
  ['768', { viewport: { width: 768, height: 900 } }],
  ['phone', PHONE],
] as const;

describeInBrowser('the page of twelve members with long names', () => {
  const running = inBrowser();
  let admin: Admin;
  let url: string;

  beforeAll(async () => {
    const events = new RecentEvents({ ids: new EventIds('r1'), wallClock: () => Date.now() });
    const time = new Date().toISOString();
    const liveStatus = new LiveStatus({ clock: systemClock, events, read });
    const timeline = { from: time, to: time, spans: [] };
    admin = createAdmin(adminOptions({ pageDirectory, events, liveStatus, timeline: () => timeline }));
    const listening = await admin.listen();
    if (listening.kind === 'failed') throw new Error(listening.detail);
    url = `http://127.0.0.1:${listening.address.port}/`;
  });
  afterAll(() => admin.close());

  it.each(LOOKS)('%s', async (name, options) => {
    const { page, screenshot, close, faults } = await openTab(running.browser, url, options);
    await connection(page, 'live');
    await screenshot(`twelve-members-${name}`);
    expect(await seriousFindings(page)).toEqual([]);
    expect(await textsOf(page, '.routes-member b')).toHaveLength(12);
    expect(await textsOf(page, '.members tbody th')).toHaveLength(12);
    expect(await page.evaluate(CUT)).toEqual([]);
    expect(await page.evaluate(OVERLAPPING)).toEqual([]);
    const excess = await page.evaluate<number>(EXCESS);
    if (name !== '768') expect(excess, 'the table is wider than its frame').toBe(0);
    await close();
    expect(faults).toEqual([]);
  });
});

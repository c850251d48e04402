// The operations of the status page, in a real browser: nothing is sent before the confirmation, which says what will
// happen, and the errors are Pointsman's own.
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HeldSession } from '../../support/applications/held-session.ts';
import { seriousFindings } from '../../support/browser/accessibility.ts';
import { describeInBrowser } from '../../support/browser/chromium.ts';
import { pageLab } from '../../support/browser/page-lab.ts';
import type { Tab } from '../../support/browser/tab.ts';
import { waitForCandidates } from '../../support/clusters/candidates.ts';
import { replicasOf } from '../../support/clusters/pool-members.ts';
import { ADMIN_TOKEN } from '../../support/values/canaries.ts';

const PHASES = ['check', 'hold', 'drain', 'switch', 'confirm', 'release'];
const TIMEOUT = { timeout: 30_000 };

describeInBrowser('the operations of the status page', () => {
  const lab = pageLab();
  const sessions: HeldSession[] = [];
  beforeEach(() => waitForCandidates(lab));
  afterEach(async () => {
    for (const one of sessions.splice(0)) await one.close();
  });

  it('asks for the token again when it is wrong, then drains and resumes', async () => {
    const tab = await lab.open({ provoked: /40[14]/ });
    const { page } = tab;
    const [replica] = await replicasOf(lab.cluster);
    await open(page, 'Drain …');
    await memberChoice(page).selectOption(replica.name);
    expect(await said(page)).toContain(`${replica.name} stays out until it is resumed`);
    await token(page, 'not-the-token-at-all');
    expect(posts(tab)).toEqual([]);
    await confirm(page, `Drain ${replica.name}`);
    await page.getByText('wrong token. Type the admin token again.').waitFor(TIMEOUT);
    expect(await drained()).toEqual([]);
    await token(page, ADMIN_TOKEN);
    await tab.screenshot('drain-dialog');
    expect(await seriousFindings(page)).toEqual([]);
    await confirm(page, `Drain ${replica.name}`);
    await page.getByText(`${replica.name} is drained.`).waitFor(TIMEOUT);
    expect(await drained()).toEqual([replica.name]);
    await close(page);

    await page.evaluate("location.hash = '#incident/none'");
    await page.getByRole('button', { name: 'Resume …' }).waitFor({ state: 'detached' });
    await page.goBack();
    await open(page, 'Resume …');
    expect(await page.getByLabel('Admin token').count()).toBe(0);
    await confirm(page, `Resume ${replica.name}`);
    await page.getByText(`${replica.name} is resumed.`).waitFor(TIMEOUT);
    expect(await drained()).toEqual([]);
    await close(page);
    const path = `/members/${replica.name}`;
    expect(posts(tab)).toEqual([`POST ${path}/drain`, `POST ${path}/drain`, `POST ${path}/resume`]);
    expect(page.url()).not.toContain(ADMIN_TOKEN);
    expect(await page.evaluate('JSON.stringify([sessionStorage, localStorage, document.cookie])')).not.toContain(
      ADMIN_TOKEN,
    );
  });

  it('says before a drain of the primary that its clients will wait', async () => {
    const { page } = await lab.open();
    const { name } = await lab.cluster.leader();
    await session();
    await open(page, 'Drain …');
    await memberChoice(page).selectOption(name);
    await page.getByText(`${name} is the primary: 1 client will wait in pool write`).waitFor(TIMEOUT);
    await page.keyboard.press('Escape');
  });

  it('probes all members by keyboard alone', async () => {
    const tab = await lab.open();
    const { page } = tab;
    const button = page.getByRole('button', { name: 'Probe now …' });
    for (let presses = 0; !(await isFocused(button)); presses += 1) {
      expect(presses, 'the button is not in the order of Tab').toBeLessThan(100);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.locator('dialog input:focus').waitFor(TIMEOUT);
    await page.keyboard.type(ADMIN_TOKEN);
    expect(posts(tab)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('All members are probed.').waitFor(TIMEOUT);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await isFocused(button)).toBe(true);
    expect(posts(tab)).toEqual(['POST /refresh']);
  });

  it('switches over with live phases, and shows who is the primary then', async () => {
    const tab = await lab.open();
    const { page } = tab;
    await session();
    const { name } = await lab.cluster.leader();
    const [next] = await replicasOf(lab.cluster);
    await open(page, 'Switch over …');
    await page.getByLabel('Next primary').selectOption(next.name, TIMEOUT);
    await page.getByText(`${next.name} becomes the primary.`).waitFor(TIMEOUT);
    expect(await said(page)).toContain(`${name} is the primary: 1 client will wait.`);
    await token(page, ADMIN_TOKEN);
    await tab.screenshot('switchover-dialog');
    expect(posts(tab)).toEqual([]);
    await confirm(page, 'Switch over');
    await page.locator('.phase[data-state="running"]').first().waitFor(TIMEOUT);
    await tab.screenshot('switchover-running');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByText(`done: ${next.name} is the primary.`).waitFor({ timeout: 60_000 });
    const phases = await page.locator('.phase[data-state="over"]').allTextContents();
    expect(phases).toEqual(PHASES.map((phase) => expect.stringMatching(new RegExp(`^${phase}.*\\d m?s$`))));
    await tab.screenshot('switchover-over');
    expect((await lab.cluster.leader()).name).toBe(next.name);
  });

  it('cancels a switchover: all clients are released', async () => {
    const { page } = await lab.open();
    const { name } = await lab.cluster.leader();
    const busy = await session();
    await busy.client.query('begin');
    await open(page, 'Switch over …');
    await token(page, ADMIN_TOKEN);
    await confirm(page, 'Switch over');
    await page.locator('.phase[data-phase="drain"][data-state="running"]').waitFor(TIMEOUT);
    await page.getByText(`all clients are released at once, and ${name} stays the primary`).waitFor(TIMEOUT);
    await confirm(page, 'Cancel the switchover');
    await page.getByText('cancelled: by the operator.').waitFor(TIMEOUT);
    await busy.client.query('commit');
  });

  async function session(): Promise<HeldSession> {
    const opened = await HeldSession.open(await lab.pointsman.port('write'), lab.cluster.app);
    sessions.push(opened);
    return opened;
  }

  async function drained(): Promise<unknown> {
    const { cluster } = JSON.parse((await lab.pointsman.admin('/status')).text);
    return cluster.drained;
  }
});

async function open(page: Page, button: string): Promise<void> {
  await page.getByRole('button', { name: button }).click(TIMEOUT);
  await page.getByRole('dialog').waitFor(TIMEOUT);
}

function memberChoice(page: Page): ReturnType<Page['getByRole']> {
  return page.getByRole('combobox', { name: 'Member' });
}

async function token(page: Page, value: string): Promise<void> {
  await page.getByLabel('Admin token').fill(value, TIMEOUT);
}

async function confirm(page: Page, button: string): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: button }).click(TIMEOUT);
}

async function close(page: Page): Promise<void> {
  await confirm(page, 'Close');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

async function said(page: Page): Promise<string> {
  return (await page.getByRole('dialog').textContent()) ?? '';
}

function isFocused(button: ReturnType<Page['getByRole']>): Promise<boolean> {
  return button.evaluate((element) => element.matches(':focus'));
}

function posts({ requests }: Tab): readonly string[] {
  return requests.filter((request) => request.startsWith('POST'));
}

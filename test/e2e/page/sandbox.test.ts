// The address of the status page that the sandbox prints, and the token beside it: both work.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, inBrowser } from '../../support/browser/chromium.ts';
import { connection } from '../../support/browser/page-lab.ts';
import { openTab } from '../../support/browser/tab.ts';
import { SandboxProcess } from '../../support/processes/sandbox-process.ts';

const PRINTED = /(http:\/\/\S+\/)\s.*token (\S+)/;

describeInBrowser('the status page of the sandbox', () => {
  const running = inBrowser();
  let sandbox: SandboxProcess;
  beforeAll(async () => {
    sandbox = await SandboxProcess.start();
  });
  afterAll(async () => {
    await sandbox.end('SIGINT');
  });

  it('is at the printed address, and takes the printed token', async () => {
    const [, address = '', token = ''] = await sandbox.waitForOutput(PRINTED, 10_000);
    expect(address).toBe(`http://${sandbox.admin}/`);
    const { page, faults, close } = await openTab(running.browser, address);
    await connection(page, 'live');
    await page.getByRole('button', { name: 'Probe now …' }).click();
    await page.getByLabel('Admin token').fill(token);
    await page.getByRole('dialog').getByRole('button', { name: 'Probe now' }).click();
    await page.getByText('All members are probed.').waitFor({ timeout: 20_000 });
    expect(faults).toEqual([]);
    await close();
  });
});

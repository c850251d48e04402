// The address of the status page that the sandbox prints, and the token beside it: both work. It shows causal reads.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, inBrowser } from '../../support/browser/chromium.ts';
import { connection } from '../../support/browser/page-lab.ts';
import { runStatement } from '../../../src/sandbox/console/statement.ts';
import { openTab } from '../../support/browser/tab.ts';
import { SandboxProcess } from '../../support/processes/sandbox-process.ts';
import { waitUntil } from '../../support/waiting/wait.ts';

const PRINTED = /(http:\/\/\S+\/)\s.*token (\S+)/;

describeInBrowser('the status page of the sandbox', () => {
  const running = inBrowser();
  let sandbox: SandboxProcess;
  beforeAll(async () => {
    sandbox = await SandboxProcess.start(['--causal-reads']);
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

  it('shows the reads that wait, and the late ones of a slow replica', { timeout: 120_000 }, async () => {
    const tab = await openTab(running.browser, `http://${sandbox.admin}/`);
    const panel = tab.page.getByRole('region', { name: 'Causal reads' });
    const readBack = async (): Promise<void> => {
      await runStatement(sandbox.write, 'insert into visits default values');
      await runStatement(sandbox.read, 'select count(*) from visits');
    };
    await readBack();
    await panel.getByText(/in the last minute: they waited/).waitFor({ timeout: 30_000 });
    expect(await sandbox.second('slow', 'replica')).toMatchObject({ code: 0 });
    const isLate = async (): Promise<boolean> => {
      await readBack();
      return panel.getByText(/late on pg-/).isVisible();
    };
    await waitUntil('a late read on the page', isLate, { timeoutMs: 60_000, explain: async () => sandbox.output });
    await tab.screenshot('sandbox-causal-reads');
    expect(tab.faults).toEqual([]);
    await tab.close();
  });
});

// The browser that the page's tests use: it sees what would be wrong with a page, and leaves nothing behind.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { seriousFindings } from '../../support/browser/accessibility.ts';
import { describeInBrowser, inBrowser, launchBrowser } from '../../support/browser/chromium.ts';
import { watchFor } from '../../support/browser/shown-at.ts';
import { openTab } from '../../support/browser/tab.ts';
import { close, listen } from '../../support/sockets/listen.ts';
import { until } from '../../support/waiting/until.ts';

const POLICY = "default-src 'none'; script-src 'self'; img-src 'self'";
const FAULTY = `<!doctype html><title>faulty</title><img src="http://example.org/a.png"><button></button>
  <p>before</p><script>alert(1)</script><script src="/click.js"></script>`;
const ON_CLICK = `document.querySelector('button').onclick = () => {
  document.querySelector('p').textContent = \`at \${Date.now()}\`;
  throw new Error('no');
}`;

describeInBrowser('the harness', () => {
  const running = inBrowser();

  it('sees foreign requests, violations of the policy, exceptions, and faults of accessibility', async () => {
    const server = createServer((request, response) => {
      const isScript = request.url === '/click.js';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.setHeader('content-security-policy', POLICY);
      response.end(isScript ? ON_CLICK : FAULTY);
    });
    const port = await listen(server);
    const tab = await openTab(running.browser, `http://127.0.0.1:${port}/`);
    const shown = await watchFor(tab.page, 'p', /^at \d/);
    await tab.page.click('button');
    const shownAt = await shown();
    const changedAt = Number((await tab.page.textContent('p'))?.replace('at ', ''));
    expect(shownAt).toBeGreaterThanOrEqual(changedAt);
    expect(shownAt).toBeLessThanOrEqual(Date.now());
    expect(tab.faults).toEqual(
      expect.arrayContaining([
        'a request to example.org',
        expect.stringMatching(/^in the console: .*img-src/),
        expect.stringMatching(/^in the console: .*script-src/),
        'an exception: no',
      ]),
    );
    const findings = await seriousFindings(tab.page);
    expect(findings).toEqual(
      expect.arrayContaining([expect.stringMatching(/^button-name: /), expect.stringMatching(/^image-alt: /)]),
    );
    await tab.close();
    server.closeAllConnections();
    await close(server);
  });

  it('leaves no process and no file when it is closed', async () => {
    const { browser, directory, close } = await launchBrowser();
    await openTab(browser, 'about:blank');
    const commands = processesWith(`HOME=${directory}\0`);
    const profile = commands.flatMap((command) => /--user-data-dir=([^\0]+)/.exec(command)?.[1] ?? []).at(0) ?? '';
    expect([directory, profile].map((path) => existsSync(path))).toEqual([true, true]);
    await close();
    await until('the end of its processes', () => processesWith(`HOME=${directory}\0`).length === 0, 10_000);
    expect([directory, profile].map((path) => existsSync(path))).toEqual([false, false]);
  });
});

/** The command lines of the processes with this in their environment. */
function processesWith(variable: string): readonly string[] {
  return readdirSync('/proc').flatMap((id) => {
    try {
      const environment = readFileSync(`/proc/${Number(id)}/environ`, 'utf8');
      return environment.includes(variable) ? [readFileSync(`/proc/${id}/cmdline`, 'utf8')] : [];
    } catch {
      return [];
    }
  });
}

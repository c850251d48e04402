// The system's Chromium, for tests of the status page in a real browser. Its profile and its other files are temporary
// directories, which are removed with it.
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { describeUnless } from '../runner/unless-missing.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

const ARGUMENTS = [
  // A container as root has no namespaces for the sandbox, and little shared memory.
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--no-proxy-server',
  // Nothing but loopback has an address.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

const executable = find(NAMES);

/** The missing part, for people; undefined when tests in a browser can run. */
const missingForBrowser =
  executable === undefined ? 'Chromium: npm run prerequisites, or apt-get install chromium' : undefined;

export function describeInBrowser(name: string, define: () => void): void {
  describeUnless(missingForBrowser, `${name}, in Chromium`, define);
}

export interface LaunchedBrowser {
  readonly browser: Browser;
  /** Where its files are. */
  readonly directory: string;
  readonly close: () => Promise<void>;
}

/** Call inside describe: one browser for its tests. */
export function inBrowser(): Pick<LaunchedBrowser, 'browser'> {
  let launched: LaunchedBrowser | undefined;
  beforeAll(async () => {
    launched = await launchBrowser();
  });
  afterAll(async () => {
    await launched?.close();
  });
  return {
    get browser() {
      if (launched === undefined) throw new Error('used before beforeAll');
      return launched.browser;
    },
  };
}

export async function launchBrowser(): Promise<LaunchedBrowser> {
  if (executable === undefined) throw new Error(missingForBrowser);
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-browser-'));
  const browser = await chromium.launch({
    executablePath: executable,
    args: ARGUMENTS,
    env: { PATH: process.env['PATH'] ?? '', HOME: directory, TMPDIR: directory, LANG: 'C.UTF-8' },
    timeout: 60_000,
  });
  const close = async (): Promise<void> => {
    await browser.close();
    await rm(directory, { recursive: true, force: true });
  };
  return { browser, directory, close };
}

function find(names: readonly string[]): string | undefined {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  return names.flatMap((name) => directories.map((directory) => join(directory, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

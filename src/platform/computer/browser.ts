// The browser: Chromium of this machine, driven by playwright-core, which brings no browser of its own. Both are needed
// by `pointsman computer` alone, and loaded when it starts.
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Browser, BrowserContext, BrowserType, Page } from 'playwright-core';
import { errorCode } from '../../model/errno.ts';
import { onOneLine } from '../../model/printable.ts';
import { guardPage } from './guard-page.ts';
import { createPageScreen } from './page-screen.ts';
import type { AgentScreen } from './agent-screen.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const START_MS = 60_000;
const PAGE_MS = 30_000;
const SIZE = { width: 1280, height: 800 };
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
/** Physical pixels of a pixel of the screenshot: zoom shows them. */
const RESOLUTION = 2;

export interface BrowserOptions {
  readonly url: URL;
  /** A file; undefined: the first of the usual names in `path`. */
  readonly executable: string | undefined;
  /** The variable PATH. */
  readonly path: string;
  /** False: Chromium runs without its own sandbox, as it must for root. */
  readonly isSandboxed: boolean;
  /** False: requests that would change something are held back. */
  readonly allowsOperations: boolean;
}

export interface OpenScreen extends AgentScreen {
  readonly executable: string;
  readonly isSandboxed: boolean;
  /** Ends the browser and removes its files. */
  readonly close: () => Promise<void>;
}

/** Why there is no screen, in a sentence for people. */
export class NoBrowser extends Error {
  override readonly name = 'NoBrowser';
}

/** Opens the page in a new browser. Rejects with a NoBrowser. */
export async function openScreen(options: BrowserOptions): Promise<OpenScreen> {
  const executable = options.executable ?? find(options.path);
  if (executable === undefined)
    throw new NoBrowser(`no Chromium: none of ${NAMES.join(', ')} is in PATH. Install one, or name it with --browser`);
  if (!isExecutable(executable)) throw new NoBrowser(`${executable} is no program that can be run`);
  // Chromium refuses to run as root in its sandbox.
  const isSandboxed = options.isSandboxed && userInfo().uid !== 0;
  const { browser, close } = await launch(executable, { ...options, isSandboxed });
  try {
    const context = await browser.newContext({
      viewport: SIZE,
      deviceScaleFactor: RESOLUTION,
      acceptDownloads: false,
      serviceWorkers: 'block',
      reducedMotion: 'reduce',
    });
    return { ...(await openPage(context, options)), executable, isSandboxed, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openPage(context: BrowserContext, { url, allowsOperations }: BrowserOptions): Promise<AgentScreen> {
  const page = await context.newPage();
  const guard = await guardPage(page, url.origin, allowsOperations);
  await load(page, url);
  return createPageScreen(page, SIZE, guard);
}

async function load(page: Page, url: URL): Promise<void> {
  const response = await page.goto(url.href, { timeout: PAGE_MS }).catch((error: unknown) => {
    throw new NoBrowser(`${url.href} cannot be opened: ${firstLine(error)}`);
  });
  if (response?.ok() === true) return;
  const said = response === null ? 'nothing' : `${response.status()}: ${firstLine(await response.text())}`;
  throw new NoBrowser(`${url.href} answered ${said}`);
}

async function launch(
  executable: string,
  { url, path, isSandboxed }: BrowserOptions,
): Promise<{ readonly browser: Browser; readonly close: () => Promise<void> }> {
  const chromium = await driver();
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-computer-'));
  const removeFiles = (): Promise<void> => rm(directory, { recursive: true, force: true });
  // Nothing else has an address, for links, scripts and redirects alike: no other host, and no other port.
  const page = `${url.hostname}:${url.port || DEFAULT_PORTS[url.protocol]}`;
  const hosts = `MAP ${page} ${page}, MAP * ~NOTFOUND`;
  try {
    const browser = await chromium.launch({
      executablePath: executable,
      chromiumSandbox: isSandboxed,
      args: ['--disable-dev-shm-usage', '--disable-gpu', '--no-proxy-server', `--host-resolver-rules=${hosts}`],
      env: { PATH: path, HOME: directory, TMPDIR: directory, LANG: 'C.UTF-8' },
      timeout: START_MS,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
    const close = async (): Promise<void> => {
      await browser.close();
      await removeFiles();
    };
    return { browser, close };
  } catch (error) {
    await removeFiles();
    const hint = isSandboxed ? '. In a container it may need --no-sandbox' : '';
    throw new NoBrowser(`${executable} does not start: ${firstLine(error)}${hint}`);
  }
}

async function driver(): Promise<BrowserType> {
  try {
    return (await import('playwright-core')).chromium;
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new NoBrowser('the browser is driven by the package playwright-core: npm install playwright-core');
  }
}

function find(path: string): string | undefined {
  const directories = path.split(delimiter).filter((directory) => directory !== '');
  return NAMES.flatMap((name) => directories.map((directory) => join(directory, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The first line of an error of the driver, without the name of its function. */
function firstLine(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
  return onOneLine(line.replace(/^\w+\.\w+: /, '')).slice(0, 500);
}

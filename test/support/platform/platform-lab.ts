// The sandbox's platform with a counting proxy in front, and the command line that talks to it.
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { runCli } from '../../../src/cli/program.ts';
import { createPlatformClient } from '../../../src/platform/client/client.ts';
import { startPlatform } from '../../../src/sandbox/platform/start-platform.ts';
import type { RunningPlatform } from '../../../src/sandbox/platform/start-platform.ts';
import { cliParts } from '../fakes/cli-parts.ts';
import { systemClock } from '../waiting/system-clock.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export class PlatformLab {
  readonly apiKey: string;
  readonly betaHeader: string;
  readonly #platform: RunningPlatform;
  readonly #proxy: CountingProxy;
  readonly #home: string;

  /** `home`: a directory of the test. */
  static async start(home: string): Promise<PlatformLab> {
    const platform = await startPlatform(join(home, 'platform'), () => {});
    return new PlatformLab(platform, await CountingProxy.start(platform.url), home);
  }

  private constructor(platform: RunningPlatform, proxy: CountingProxy, home: string) {
    this.#platform = platform;
    this.#proxy = proxy;
    this.#home = home;
    this.apiKey = readFileSync(platform.apiKeyFile, 'utf8').trim();
    this.betaHeader = platform.betaHeader;
  }

  /** Each one of the commands: `POST /v1/skills`. */
  requests(): readonly string[] {
    return this.#proxy.seen.map(({ line }) => line);
  }

  /** The platform does what the next request asks, and its answer never arrives. */
  loseNextAnswer(): void {
    this.#proxy.losesNext = true;
  }

  /** The body of the last request. */
  lastBody(): string {
    return this.#proxy.seen.at(-1)?.body ?? '';
  }

  run(...argv: readonly string[]): Promise<Ran> {
    return this.runWith({}, ...argv);
  }

  /** Without the section `platform`. */
  runWithout(...argv: readonly string[]): Promise<Ran> {
    return cli(argv, {});
  }

  runWith(env: Readonly<Record<string, string>>, ...argv: readonly string[]): Promise<Ran> {
    return cli(argv, {
      XDG_STATE_HOME: join(this.#home, 'state'),
      POINTSMAN_PLATFORM_URL: this.#proxy.url,
      POINTSMAN_PLATFORM_API_KEY_FILE: this.#platform.apiKeyFile,
      POINTSMAN_PLATFORM_BETA_HEADER: this.betaHeader,
      ...env,
    });
  }

  /** Sends a printed request to the platform's check of message requests. */
  async checkMessage(printed: string): Promise<{ readonly status: number; readonly text: string }> {
    const { headers, body }: { headers: Record<string, string>; body: unknown } = JSON.parse(printed);
    const answer = await fetch(this.#platform.messageCheck, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', [this.#platform.authHeader]: this.apiKey },
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  }

  async close(): Promise<void> {
    await this.#proxy.close();
    await this.#platform.close();
  }
}

async function cli(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> {
  let [out, err] = ['', ''];
  const io = { env, stdout: (text: string) => void (out += text), stderr: (text: string) => void (err += text) };
  const parts = cliParts({
    platform: {
      openPlatform: async (policy) => createPlatformClient({ policy, clock: systemClock, random: () => 0 }),
    },
  });
  return { code: await runCli(argv, io, parts), out, err };
}

class CountingProxy {
  readonly seen: { readonly line: string; readonly body: string }[] = [];
  losesNext = false;
  readonly url: string;
  readonly #server: Server;

  static async start(target: string): Promise<CountingProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new CountingProxy(server, target);
  }

  private constructor(server: Server, target: string) {
    const bound = server.address();
    this.url = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}`;
    this.#server = server;
    server.on('request', (request: IncomingMessage, response) => {
      void this.#forward(request, target).then(async (answer) => {
        const isLost = this.losesNext;
        this.losesNext = false;
        if (isLost) return void response.destroy();
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(await answer.text());
        return undefined;
      });
    });
  }

  async #forward(request: IncomingMessage, target: string): Promise<Response> {
    const { method = 'GET', url = '/' } = request;
    const body = await buffer(request);
    this.seen.push({ line: `${method} ${url}`, body: body.toString() });
    const left = Object.entries(request.headers).filter(([name]) => !/^(?:host|connection|content-length)$/.test(name));
    const headers = new Headers(left.map(([name, value]): [string, string] => [name, String(value)]));
    return fetch(`${target}${url}`, { method, headers, ...(body.length === 0 ? {} : { body: new Uint8Array(body) }) });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

// The Kubernetes API server as a client sees it, on loopback: TLS with a CA of its own, a bearer token, lists with a
// version, watches that stream changes from a version on, bookmarks, and every way in which a watch goes wrong.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { close, listen } from '../../sockets/listen.ts';
import { SERVER, tlsText } from '../../values/tls-files.ts';
import { readFileSync } from 'node:fs';
import { KUBERNETES_TOKEN } from '../../values/canaries.ts';

export type KubernetesObject = Record<string, unknown> & {
  readonly metadata: Record<string, unknown> & {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
};

/** The fate of a list or a watch, instead of an answer. */
export type Mood = 'well' | 'unavailable' | 'forbidden' | 'silent' | 'reset' | 'not-json' | 'huge';

interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubernetesObject;
}

interface Watcher {
  readonly response: ServerResponse;
  readonly path: string;
  readonly selector: string;
}

const GONE = { kind: 'Status', status: 'Failure', reason: 'Expired', message: 'too old resource version', code: 410 };

export class FakeApiServer {
  /** `GET /api/v1/…?…` of each request, in order. */
  readonly requests: URL[] = [];
  token = KUBERNETES_TOKEN;
  mood: Mood = 'well';
  /** The mood of new watches only; lists are answered by `mood`. */
  watchMood: Mood = 'well';
  /** A folder as a service account is mounted. */
  readonly credentials = mkdtempSync(join(tmpdir(), 'service-account-'));
  readonly #server: Server;
  readonly #objects = new Map<string, Map<string, KubernetesObject>>();
  readonly #changes = new Map<string, Change[]>();
  readonly #watchers = new Set<Watcher>();
  #version = 100;
  /** Watches from before this version are told that it is gone. */
  #oldest = 0;
  #port = 0;

  private constructor() {
    const files = { cert: readFileSync(SERVER.cert), key: readFileSync(SERVER.key) };
    this.#server = createServer(files, (request, response) => this.#answer(request, response));
    this.mount({ token: this.token, 'ca.crt': tlsText('ca.pem'), namespace: 'db' });
  }

  static async start(port = 0): Promise<FakeApiServer> {
    const fake = new FakeApiServer();
    fake.#port = await listen(fake.#server, { port });
    return fake;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** Writes files of the service account. */
  mount(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.credentials, name), text);
  }

  put(path: string, object: KubernetesObject): void {
    const objects = this.#objects.get(path) ?? new Map<string, KubernetesObject>();
    this.#objects.set(path, objects);
    const type = objects.has(object.metadata.name) ? 'MODIFIED' : 'ADDED';
    const stored = this.#stamped(object);
    objects.set(object.metadata.name, stored);
    this.#tell(path, { version: this.#version, type, object: stored });
  }

  remove(path: string, name: string): void {
    const object = this.#objects.get(path)?.get(name);
    if (object === undefined) throw new Error(`there is no ${name}`);
    this.#objects.get(path)?.delete(name);
    this.#tell(path, { version: this.#version + 1, type: 'DELETED', object: this.#stamped(object) });
  }

  /** Sends a bookmark to every watch. */
  bookmark(): void {
    this.#version += 1;
    const object = { kind: 'Pod', metadata: { resourceVersion: String(this.#version), name: '' } };
    this.send(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }

  /** Forgets the changes so far: present watches are told so, and later ones from an older version, too. */
  compact(): void {
    this.#version += 1;
    this.#oldest = this.#version;
    this.send(`${JSON.stringify({ type: 'ERROR', object: GONE })}\n`);
    this.endWatches();
  }

  /** Bytes, as they are, to every watch. */
  send(bytes: string): void {
    for (const { response } of this.#watchers) response.write(bytes);
  }

  /** As after their time. */
  endWatches(): void {
    for (const { response } of this.#watchers) response.end();
    this.#watchers.clear();
  }

  /** As when the server dies. */
  cutWatches(): void {
    for (const { response } of this.#watchers) response.destroy();
    this.#watchers.clear();
  }

  async stop(): Promise<void> {
    const closing = close(this.#server);
    this.#server.closeAllConnections();
    await closing;
    rmSync(this.credentials, { recursive: true });
  }

  #stamped(object: KubernetesObject): KubernetesObject {
    this.#version += 1;
    return { ...object, metadata: { namespace: 'db', ...object.metadata, resourceVersion: String(this.#version) } };
  }

  #tell(path: string, change: Change): void {
    this.#changes.set(path, [...(this.#changes.get(path) ?? []), change]);
    for (const watcher of this.#watchers) if (watcher.path === path) sendChange(watcher, change);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '', this.url);
    this.requests.push(url);
    const isWatch = url.searchParams.get('watch') === '1';
    if (request.headers.authorization !== `Bearer ${this.token}`) return fail(response, 401, 'Unauthorized');
    const mood = isWatch && this.mood === 'well' ? this.watchMood : this.mood;
    if (mood !== 'well') return misbehave(mood, request, response);
    if (isWatch) this.#watch(url, response);
    else this.#list(url, response);
  }

  #list(url: URL, response: ServerResponse): void {
    const selector = url.searchParams.get('labelSelector') ?? '';
    const items = [...(this.#objects.get(url.pathname)?.values() ?? [])].filter((object) =>
      isSelected(object, selector),
    );
    reply(response, 200, { kind: 'List', metadata: { resourceVersion: String(this.#version) }, items });
  }

  #watch(url: URL, response: ServerResponse): void {
    const from = Number(url.searchParams.get('resourceVersion'));
    if (from < this.#oldest) return reply(response, 410, GONE);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const watcher = { response, path: url.pathname, selector: url.searchParams.get('labelSelector') ?? '' };
    for (const change of this.#changes.get(url.pathname) ?? []) if (change.version > from) sendChange(watcher, change);
    this.#watchers.add(watcher);
    response.on('close', () => this.#watchers.delete(watcher));
  }
}

function sendChange({ response, selector }: Watcher, { type, object }: Change): void {
  if (isSelected(object, selector)) response.write(`${JSON.stringify({ type, object })}\n`);
}

function isSelected({ metadata }: KubernetesObject, selector: string): boolean {
  return selector.split(',').every((term) => {
    const [key = '', value] = term.split('=');
    return metadata.labels?.[key] === value;
  });
}

function misbehave(mood: Exclude<Mood, 'well'>, request: IncomingMessage, response: ServerResponse): void {
  switch (mood) {
    case 'unavailable':
      return fail(response, 503, 'etcd is gone');
    case 'forbidden':
      return fail(response, 403, 'pods is forbidden');
    case 'silent':
      return;
    case 'reset':
      request.socket.destroy();
      return;
    case 'not-json':
      response.end('<html>\n');
      return;
    case 'huge':
      response.writeHead(200);
      for (let i = 0; i < 20; i += 1) response.write('x'.repeat(1024 * 1024));
      response.end();
  }
}

function fail(response: ServerResponse, code: number, message: string): void {
  reply(response, code, { kind: 'Status', status: 'Failure', message, code });
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

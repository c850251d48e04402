// A single etcd node, the cluster's DCS, and the few questions the harness has for it (v3 JSON gateway).
import { join } from 'node:path';
import { isRecord, parseJson } from './documents.ts';
import { ask } from './http.ts';
import type { Site } from './site.ts';
import { SupervisedProcess } from './supervised-process.ts';
import { waitUntil } from '../waiting/wait.ts';

export class Etcd {
  readonly #site: Site;
  #process: SupervisedProcess | undefined;

  constructor(site: Site) {
    this.#site = site;
  }

  logFile(): string {
    return join(this.#site.directory, 'etcd.log');
  }

  isRunning(): boolean {
    return this.#process?.isRunning() ?? false;
  }

  async start(): Promise<void> {
    if (this.isRunning()) return;
    const client = `http://${this.#site.etcd}`;
    const peer = `http://${this.#site.etcdPeer}`;
    const dataDir = join(this.#site.directory, 'etcd');
    const options = {
      name: 'etcd',
      'data-dir': dataDir,
      logger: 'zap',
      'log-level': 'warn',
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `etcd=${peer}`,
    };
    const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    this.#process = await SupervisedProcess.start({
      ...this.#site.launch,
      dataDir,
      logFile: this.logFile(),
      command: [this.#site.installation.etcd, ...flags],
    });
    await waitUntil('etcd healthy', () => this.#isHealthy(), { timeoutMs: 15_000, everyMs: 20 });
  }

  async stop(): Promise<void> {
    await this.#process?.kill();
    this.#process = undefined;
  }

  /** Undefined when there is no such key. The revision grows with each change. */
  async read(key: string): Promise<{ readonly value: string; readonly revision: string } | undefined> {
    const answer = parseJson(await this.#post('/v3/kv/range', key));
    const found: unknown = isRecord(answer) && Array.isArray(answer['kvs']) ? answer['kvs'][0] : undefined;
    if (!isRecord(found)) return undefined;
    // An empty value is left out.
    const { value = '', mod_revision: revision } = found;
    if (typeof value !== 'string' || typeof revision !== 'string') return undefined;
    return { value: Buffer.from(value, 'base64').toString(), revision };
  }

  async deleteKey(key: string): Promise<void> {
    const answer = await this.#post('/v3/kv/deleterange', key);
    if (answer?.status !== 200) throw new Error(`etcd did not delete ${key}: ${answer?.text ?? 'no answer'}`);
  }

  #post(path: string, key: string) {
    const body = { key: Buffer.from(key).toString('base64') };
    return ask(`http://${this.#site.etcd}${path}`, { method: 'POST', body });
  }

  async #isHealthy(): Promise<boolean> {
    const health = parseJson(await ask(`http://${this.#site.etcd}/health`));
    return isRecord(health) && health['health'] === 'true';
  }
}

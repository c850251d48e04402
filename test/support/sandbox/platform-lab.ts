// The sandbox's platform under test, by plain HTTP as any client speaks it. It needs no cluster.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startPlatform } from '../../../src/sandbox/platform/start-platform.ts';
import type { RunningPlatform } from '../../../src/sandbox/platform/start-platform.ts';

export interface PlatformReply {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- a document of the API under test
  readonly body: any;
}

export const BETAS = {
  skills: 'skills-2025-10-02',
  code: 'code-execution-2025-08-25',
  files: 'files-api-2025-04-14',
  computer: 'computer-20251124-api',
  agents: 'managed-agents-2026-04-01',
} as const;

const WITHIN_MS = 60_000;

export class PlatformLab {
  readonly platform: RunningPlatform;
  /** It has the key, the skills and the files. */
  readonly directory: string;
  readonly key: string;
  readonly warnings: string[];

  private constructor(platform: RunningPlatform, directory: string, key: string, warnings: string[]) {
    this.platform = platform;
    this.directory = directory;
    this.key = key;
    this.warnings = warnings;
  }

  static async start(): Promise<PlatformLab> {
    const warnings: string[] = [];
    const directory = await mkdtemp(join(tmpdir(), 'pointsman-platform-'));
    const platform = await startPlatform(directory, (event) => void warnings.push(JSON.stringify(event)));
    const key = (await readFile(platform.apiKeyFile, 'utf8')).trim();
    return new PlatformLab(platform, directory, key, warnings);
  }

  async stop(): Promise<void> {
    await this.platform.close();
    await rm(this.directory, { recursive: true });
    expect(this.warnings).toEqual([]);
  }

  async send(
    method: string,
    path: string,
    betas: readonly string[] = [],
    body?: FormData | string,
    headers: Readonly<Record<string, string>> = { 'x-api-key': this.key },
  ): Promise<PlatformReply> {
    const all = {
      ...headers,
      ...(betas.length === 0 ? {} : { 'sandbox-beta': betas.join(', ') }),
      ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
    };
    const init = body === undefined ? {} : { body };
    const url = `${this.platform.url}${path}`;
    const response = await fetch(url, { method, headers: all, ...init, signal: AbortSignal.timeout(WITHIN_MS) });
    return { status: response.status, body: JSON.parse(await response.text()) };
  }

  get(path: string, betas: readonly string[] = []): Promise<PlatformReply> {
    return this.send('GET', path, betas);
  }

  /** A skill of these files, by their whole names. */
  async createSkill(files: Readonly<Record<string, string>>, betas: readonly string[] = []): Promise<PlatformReply> {
    return this.send('POST', '/v1/skills', betas, formOf('files[]', files));
  }

  addVersion(skill: string, files: Readonly<Record<string, string>>): Promise<PlatformReply> {
    return this.send('POST', `/v1/skills/${skill}/versions`, [], formOf('files[]', files));
  }

  uploadFile(name: string, type = 'text/plain', betas: readonly string[] = [BETAS.files]): Promise<PlatformReply> {
    return this.send('POST', '/v1/files', betas, formOf('file', { [name]: 'content' }, type));
  }

  /** `model`, `max_tokens` and one message are there unless `fields` has others. */
  message(fields: object, betas: readonly string[] = []): Promise<PlatformReply> {
    const plain = { model: 'vendor-opus-5', max_tokens: 100, messages: [{ role: 'user', content: 'What happened?' }] };
    return this.send('POST', '/message-check', betas, JSON.stringify({ ...plain, ...fields }));
  }
}

export function formOf(field: string, files: Readonly<Record<string, string>>, type = 'text/plain'): FormData {
  const form = new FormData();
  for (const [name, text] of Object.entries(files)) form.append(field, new Blob([text], { type }), name);
  return form;
}

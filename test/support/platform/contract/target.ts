// A platform under the contract suite, and how the suite speaks to it: by plain HTTP, as any client does.
import type { Clock } from '../../../../src/model/instant.ts';
import type { SkillDialect } from '../../../../src/model/skill-dialect.ts';
import { createPlatformClient } from '../../../../src/platform/client/client.ts';
import type { PlatformClient } from '../../../../src/platform/client/client.ts';
import { messageRequest } from '../../../../src/platform/fragments.ts';
import type { Fragment } from '../../../../src/platform/fragments.ts';

/** Names that the contract leaves open come with the target. */
export interface PlatformTarget {
  /** Before `/v1`. */
  readonly url: string;
  readonly authHeader: string;
  /** Holds the value of that header. */
  readonly apiKeyFile: string;
  /** The same value. */
  readonly apiKey: string;
  readonly betaHeader: string;
  readonly skillsField: string;
  readonly fileField: string;
  /** The whole URL of a check of message requests. */
  readonly messageCheck: string;
  /** For the pauses of our client. */
  readonly clock: Clock;
  stop(): Promise<void>;
}

export interface Reply {
  /** 0: no answer. */
  readonly status: number;
  readonly text: string;
}

/** Machines may be busy. */
const WITHIN_MS = 120_000;
/** A server may refuse for a while. */
const MOST_READS = 3;
const MOST_AT_ONCE = 16;

export const BETA = {
  skills: 'skills-2025-10-02',
  code: 'code-execution-2025-08-25',
  files: 'files-api-2025-04-14',
  computer: 'computer-20251124-api',
  agents: 'managed-agents-2026-04-01',
} as const;

export const isSuccess = ({ status }: Reply): boolean => status >= 200 && status < 300;
export const isRefused = ({ status }: Reply): boolean => status >= 400 && status < 500;

/** `betas` in one header. */
export async function send(
  on: PlatformTarget,
  method: string,
  path: string,
  betas: readonly string[] = [],
  body?: FormData | string,
): Promise<Reply> {
  const headers = {
    [on.authHeader]: on.apiKey,
    ...(betas.length === 0 ? {} : { [on.betaHeader]: betas.join(',') }),
    ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
  };
  const url = path.startsWith('http') ? path : `${on.url}${path}`;
  const init = body === undefined ? {} : { body };
  for (let tries = 1; ; tries += 1) {
    try {
      const response = await fetch(url, { method, headers, ...init, signal: AbortSignal.timeout(WITHIN_MS) });
      const reply = { status: response.status, text: await response.text() };
      const isPassing = method === 'GET' && (reply.status >= 500 || reply.status === 429);
      if (!isPassing || tries === MOST_READS) return reply;
    } catch {
      return { status: 0, text: '' };
    }
  }
}

export function formOf(field: string, files: Readonly<Record<string, string>>, type = 'text/plain'): FormData {
  const form = new FormData();
  for (const [name, text] of Object.entries(files)) form.append(field, new Blob([text], { type }), name);
  return form;
}

export function clientOf(on: PlatformTarget, dialect: SkillDialect = 'general'): PlatformClient {
  return createPlatformClient({
    policy: {
      url: on.url,
      apiKeyFile: on.apiKeyFile,
      authHeader: on.authHeader,
      headers: {},
      betaHeader: on.betaHeader,
      skills: { dialect, filesField: on.skillsField, extraFields: {} },
      files: { field: on.fileField, extraFields: {} },
    },
    clock: on.clock,
    random: () => 0.5,
  });
}

export interface TestSkill {
  readonly id: string;
  readonly name: string;
}

let made = 0;

/** A name that no other test uses. */
export function newName(): string {
  made += 1;
  return `runbook-${made}-${Date.now().toString(36)}`;
}

export function filesOf(folder: string, name: string | undefined = folder): Record<string, string> {
  const named = name === '' ? '' : `name: ${name}\n`;
  return {
    [`${folder}/SKILL.md`]: `---\n${named}description: Reads an incident.\n---\n\n# Steps\n`,
    [`${folder}/references/diagnose.md`]: '# Diagnose\n',
  };
}

/** The same for our client. */
export function uploadOf(folder: string, name: string | undefined = folder) {
  return Object.entries(filesOf(folder, name)).map(([path, text]) => ({
    name: path,
    mediaType: 'text/markdown',
    content: new TextEncoder().encode(text),
  }));
}

/** A skill that is there while `run` runs. */
export async function withSkill<T>(on: PlatformTarget, run: (skill: TestSkill) => Promise<T>): Promise<T> {
  const name = newName();
  const { id } = await clientOf(on).createSkill(uploadOf(name));
  try {
    return await run({ id, name });
  } finally {
    await send(on, 'DELETE', `/v1/skills/${id}`);
  }
}

export function storeFile(on: PlatformTarget, mediaType = 'text/plain'): Promise<string> {
  const content = new TextEncoder().encode('An incident.\n');
  return clientOf(on).uploadFile({ name: `evidence-${mediaType.replace('/', '.')}`, mediaType, content });
}

export const NEWER_MODEL = 'vendor-opus-5';

/** Our request of these fragments, as the platform judges it. `change` spoils it. */
export function check(
  on: PlatformTarget,
  fragments: readonly (Fragment | undefined)[],
  change: { readonly model?: string; readonly body?: object; readonly without?: string } = {},
): Promise<Reply> {
  const { model = NEWER_MODEL, body = {}, without } = change;
  const known = fragments.filter((fragment) => fragment !== undefined);
  const request = messageRequest(on.betaHeader, { model, maxTokens: 512, text: 'Why?', fragments: known });
  const betas = (request.headers[on.betaHeader] ?? '').split(',').filter((beta) => beta !== '' && beta !== without);
  return send(on, 'POST', on.messageCheck, betas, JSON.stringify({ ...request.body, ...body }));
}

export function inBatches<T>(all: readonly T[]): readonly (readonly T[])[] {
  const count = Math.ceil(all.length / MOST_AT_ONCE);
  return Array.from({ length: count }, (_, i) => all.slice(i * MOST_AT_ONCE, (i + 1) * MOST_AT_ONCE));
}

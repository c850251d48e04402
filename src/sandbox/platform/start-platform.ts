// The sandbox's model platform, on loopback, with what it stores on disk. No model is behind it.
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serveHttp } from '../http-server.ts';
import type { SandboxEvent, SandboxPlatform } from '../sandbox.ts';
import { BETA_HEADER } from './betas.ts';
import { FILE_FIELD, PlatformFiles } from './file-store.ts';
import { AUTH_HEADER, MESSAGE_CHECK, platformApi } from './platform-api.ts';
import { SkillStore, type SkillSource } from './skill-store.ts';
import { SKILL_FIELD } from './skills-api.ts';

/** A request with a PDF in it has at most 32 MB. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** Skills that nobody here may change: the platform has them from its vendor, and from a plugin. */
const READ_ONLY: readonly (readonly [string, SkillSource])[] = [
  ['documents', 'anthropic'],
  ['example', 'anthropic_example'],
  ['plugin-notes', 'plugin'],
];

export interface RunningPlatform extends SandboxPlatform {
  close(): Promise<void>;
}

/** `directory` gets the key, the skills and the files. It may be new. */
export async function startPlatform(
  directory: string,
  onEvent: (event: SandboxEvent) => void,
): Promise<RunningPlatform> {
  await mkdir(directory, { recursive: true });
  const [skills, files] = [new SkillStore(directory), new PlatformFiles(directory)];
  for (const [name, source] of READ_ONLY) {
    const text = `---\nname: ${name}\ndescription: A skill that can only be read.\n---\n`;
    await skills.create({ name, description: undefined, files: new Map([['SKILL.md', Buffer.from(text)]]) }, source);
  }
  const apiKey = randomBytes(24).toString('base64url');
  const apiKeyFile = join(directory, 'api-key');
  await writeFile(apiKeyFile, `${apiKey}\n`, { mode: 0o600 });
  const server = await serveHttp(
    platformApi({ skills, files }, apiKey),
    (error) => onEvent({ kind: 'warning', text: `the platform failed: ${String(error)}` }),
    MAX_BODY_BYTES,
  );
  return {
    url: server.url,
    apiKeyFile,
    authHeader: AUTH_HEADER,
    betaHeader: BETA_HEADER,
    skillsField: SKILL_FIELD,
    fileField: FILE_FIELD,
    messageCheck: `${server.url}${MESSAGE_CHECK}`,
    close: () => server.close(),
  };
}

// A member's own configuration file, `<directory>/<member>.yml`: its tags and its own parameters. It is read at the
// start and on reload. A missing file sets nothing, and an invalid file changes nothing.
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Parameters } from '../postgres/server-types.ts';
import { messageOf } from '../http-server.ts';
import { whyIgnored } from './parameters.ts';
import { readParameters } from './cluster-settings.ts';
import type { Tags } from './view.ts';
import { errorCode } from '../../model/errno.ts';

export interface MemberFile {
  readonly tags: Tags;
  readonly parameters: Parameters;
  /** Entries that have no effect. */
  readonly warnings: readonly string[];
}

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const document = z.looseObject({
  tags: z.record(z.string(), scalar).nullish(),
  parameters: z.record(z.string(), scalar).nullish(),
});

/** Rejects with the reason against the file. */
export async function readMemberFile(path: string): Promise<MemberFile> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return '';
    throw new Error(`cannot read the configuration file: ${String(error)}`, { cause: error });
  });
  return parseMemberFile(text);
}

export function parseMemberFile(text: string): MemberFile {
  let content: unknown;
  try {
    content = parse(text) ?? {};
  } catch (cause) {
    const [why] = messageOf(cause).split('\n');
    throw new Error(`the configuration file is not YAML: ${why}`, { cause });
  }
  const parsed = document.safeParse(content);
  if (!parsed.success) {
    const why = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`);
    throw new Error(`the configuration file is not valid: ${why.join('; ')}`);
  }
  const parameters = readParameters(parsed.data.parameters ?? {});
  const warnings = Object.keys(parameters).flatMap((name) => {
    const why = whyIgnored(name);
    return why === undefined ? [] : [`parameter ${name} of the configuration file is ignored: it ${why}`];
  });
  return { tags: parsed.data.tags ?? {}, parameters, warnings };
}

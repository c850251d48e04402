// A member's own configuration file, `<directory>/<member>.yml`: its tags and its own parameters. It is read at the
// start and on reload. A missing file sets nothing, and an invalid file changes nothing.
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Parameters } from '../postgres/server-interface.ts';
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

export type MemberFileRead =
  | { readonly kind: 'read'; readonly file: MemberFile }
  | { readonly kind: 'invalid'; readonly text: string };

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const document = z.looseObject({
  tags: z.record(z.string(), scalar).nullish(),
  parameters: z.record(z.string(), scalar).nullish(),
});

const NOTHING: MemberFile = { tags: {}, parameters: {}, warnings: [] };

export async function readMemberFile(path: string): Promise<MemberFileRead> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return { kind: 'read', file: NOTHING };
    return { kind: 'invalid', text: `cannot read the configuration file: ${String(error)}` };
  }
  return parseMemberFile(text);
}

export function parseMemberFile(text: string): MemberFileRead {
  let content: unknown;
  try {
    content = parse(text) ?? {};
  } catch (error) {
    return { kind: 'invalid', text: `the configuration file is not YAML: ${messageOf(error)}` };
  }
  const parsed = document.safeParse(content);
  if (!parsed.success) {
    const why = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`);
    return { kind: 'invalid', text: `the configuration file is not valid: ${why.join('; ')}` };
  }
  const parameters = readParameters(parsed.data.parameters ?? {});
  const warnings = Object.keys(parameters).flatMap((name) => {
    const why = whyIgnored(name);
    return why === undefined ? [] : [`parameter ${name} of the configuration file is ignored: it ${why}`];
  });
  return { kind: 'read', file: { tags: parsed.data.tags ?? {}, parameters, warnings } };
}

function isMissing(error: unknown): boolean {
  return errorCode(error) === 'ENOENT';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
}

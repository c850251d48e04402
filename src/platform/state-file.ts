// Small files in which commands remember what they have sent to the platform, so that nothing is sent twice.
import { access, constants, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { z } from 'zod';
import { unreadable } from '../config/files/unusable-files.ts';
import type { CliIo } from '../cli/io.ts';
import { errorCode, fileFault } from '../model/errno.ts';

/** By the XDG Base Directory Specification. Undefined: the environment names none. */
export function stateDirectory({ env }: CliIo): string | undefined {
  const home = env['HOME'];
  const state = env['XDG_STATE_HOME'] || (home ? join(home, '.local', 'state') : undefined);
  return state === undefined ? undefined : join(state, 'pointsman');
}

/** Without a value there is no such file, or `why` says that it cannot be used. */
export async function readState<T>(
  file: string,
  schema: z.ZodType<T>,
): Promise<{ readonly value?: T; readonly why?: string }> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? {} : { why: `${file} ${unreadable(error)}` };
  }
  try {
    return { value: schema.parse(JSON.parse(text)) };
  } catch {
    return { why: `${file} is not what Pointsman wrote: correct it, or move it away` };
  }
}

/** Undefined: a file there can be written. Else the reason. `make`: its directory, if there is none. */
export async function whyNotWritable(file: string, { make }: { readonly make: boolean }): Promise<string | undefined> {
  try {
    if (make) await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await access(dirname(file), constants.W_OK);
    return undefined;
  } catch (error) {
    return `${dirname(file)} cannot be written: ${fileFault(error)}`;
  }
}

/** Undefined: it is written, whole. Else the reason. */
export async function writeState(file: string, value: unknown): Promise<string | undefined> {
  try {
    await writeFile(`${file}.tmp`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
    await rename(`${file}.tmp`, file);
    return undefined;
  } catch (error) {
    return `${file} cannot be written: ${fileFault(error)}`;
  }
}

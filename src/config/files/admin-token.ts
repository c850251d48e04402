// The token for operations, from the configuration or from the file that it names. The file is read each time, so that
// a rotated token counts at once.
import type { AdminConfig } from '../config.ts';
import { secret } from '../schema/values.ts';
import { readText } from './unusable-files.ts';

export type AdminToken =
  | { readonly kind: 'none' }
  /** `why` names the file and never shows its content. */
  | { readonly kind: 'unusable'; readonly why: string }
  | { readonly kind: 'token'; readonly value: string };

/** Never rejects. Space around the token does not count: editors end a file with a line end. */
export async function readAdminToken({
  token,
  tokenFile,
}: Pick<AdminConfig, 'token' | 'tokenFile'>): Promise<AdminToken> {
  if (token !== undefined) return { kind: 'token', value: token };
  if (tokenFile === undefined) return { kind: 'none' };
  const unusable = (why: string): AdminToken => ({ kind: 'unusable', why: `admin.token_file ${tokenFile} ${why}` });
  const { text, why } = await readText(tokenFile);
  if (why !== undefined) return unusable(why);
  const read = secret.safeParse(text.trim());
  if (read.success) return { kind: 'token', value: read.data };
  return unusable(`cannot be used: its content ${read.error.issues[0]?.message ?? 'is not a token'}`);
}

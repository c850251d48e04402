// The files of a multipart form. The contract shows no field names, so the sandbox has its own.
import type { LabRequest } from '../http-server.ts';
import { PlatformRefusal } from './refused.ts';

export interface SentFile {
  /** As sent: of a skill it is a path. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/** All parts have the name `field`, and a file name. */
export async function readFiles({ headers, body }: LabRequest, field: string): Promise<readonly SentFile[]> {
  const type = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;/i.test(type))
    throw new PlatformRefusal(415, 'Content-Type must be multipart/form-data');
  const whole = new Response(new Uint8Array(body), { headers: { 'content-type': type } });
  // oxlint-disable-next-line typescript/no-deprecated -- it keeps the whole form in memory, which is limited here
  const form = await whole.formData().catch(() => undefined);
  if (form === undefined) throw new PlatformRefusal(400, 'the body is no multipart form, or it is cut off');
  const files: SentFile[] = [];
  for (const [name, part] of form) {
    if (name !== field)
      throw new PlatformRefusal(400, `the form has a field ${name}: the files go in the field ${field}`);
    if (typeof part === 'string') throw new PlatformRefusal(400, `a part ${field} has no file name`);
    const bytes = Buffer.from(await part.arrayBuffer());
    files.push({ name: part.name, mediaType: part.type, bytes });
  }
  if (files.length === 0) throw new PlatformRefusal(400, `the form has no file in the field ${field}`);
  return files;
}

/** A part of a path that stays in its folder. */
export function isPlainName(name: string): boolean {
  return !['', '.', '..'].includes(name) && !/[/\\\p{Cc}]/u.test(name);
}

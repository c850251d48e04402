// Forms of uploads: multipart/form-data, with the field names of the configuration.
import type { PlatformRequest } from './send.ts';

export interface UploadedFile {
  /** The file name of its part. Of a skill: `SLUG/path`. */
  readonly name: string;
  readonly mediaType: string;
  readonly content: Uint8Array;
}

/** Each file is a part with the name `field`. */
export async function formBody(
  field: string,
  files: readonly UploadedFile[],
  extraFields: Readonly<Record<string, string>>,
): Promise<NonNullable<PlatformRequest['body']>> {
  const form = new FormData();
  for (const [name, value] of Object.entries(extraFields)) form.append(name, value);
  for (const { name, mediaType, content } of files) {
    form.append(field, new Blob([new Uint8Array(content)], { type: mediaType }), name);
  }
  const encoded = new Response(form);
  const type = encoded.headers.get('content-type') ?? 'multipart/form-data';
  return { type, content: new Uint8Array(await encoded.arrayBuffer()) };
}

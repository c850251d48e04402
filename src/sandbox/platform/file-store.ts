// Files, on disk as files/ID/NAME. Source: the model platform's API, "Files API".
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainName, type SentFile } from './form.ts';
import { PlatformRefusal } from './refused.ts';

/** In the form of an upload. */
export const FILE_FIELD = 'file';

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  /** Without parameters: `text/plain`. */
  readonly mediaType: string;
  readonly size: number;
}

export class PlatformFiles {
  readonly #directory: string;
  readonly #files = new Map<string, StoredFile>();

  constructor(directory: string) {
    this.#directory = join(directory, 'files');
  }

  find(id: string): StoredFile {
    const file = this.#files.get(id);
    if (file === undefined) throw new PlatformRefusal(404, `there is no file ${id}`);
    return file;
  }

  async store([sent, ...others]: readonly SentFile[]): Promise<StoredFile> {
    if (sent === undefined || others.length > 0) throw new PlatformRefusal(400, 'one request uploads one file');
    const { name, mediaType, bytes } = sent;
    if (!isPlainName(name)) throw new PlatformRefusal(400, `the file name ${JSON.stringify(name)} is a path`);
    const id = `file_${randomBytes(12).toString('hex')}`;
    const folder = join(this.#directory, id);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), bytes);
    const [type = ''] = mediaType.toLowerCase().split(';');
    const file = { id, name, mediaType: type.trim(), size: bytes.length };
    this.#files.set(id, file);
    return file;
  }
}

export function fileRecord({ id, name, mediaType, size }: StoredFile): object {
  return { file_id: id, filename: name, mime_type: mediaType, size_bytes: size };
}

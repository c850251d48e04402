// Which incidents are stored on the platform. The note is beside the incident, or, where the directory of incidents is
// not known or cannot be written, in the state directory of the user.
import { join } from 'node:path';
import { z } from 'zod';
import { uploadNote } from '../../incidents/file-store.ts';
import type { CliIo } from '../../cli/io.ts';
import type { IncidentsOptions } from '../../cli/incidents/incident-source.ts';
import type { PlatformConfig } from '../platform-context.ts';
import { readState, stateDirectory, whyNotWritable } from '../state-file.ts';

const uploadFile = z.object({
  /** The address of the platform. */
  url: z.string(),
  file_id: z.string(),
  /** The incident was `open` or `settled` when it was sent. */
  state: z.string(),
  /** The run of Pointsman that recorded it: ids alone are not unique. */
  run: z.string(),
  bytes: z.number(),
  sha256: z.string(),
  uploaded_at: z.string(),
});
export type Upload = z.infer<typeof uploadFile>;

export interface Uploads {
  /** The upload to this platform. A text says why a note cannot be read. Undefined: there was no upload. */
  readonly find: (id: string) => Promise<Upload | string | undefined>;
  /** Where the note of this incident will be, tried before anything is sent. A `why` says that there is no place. */
  readonly place: (id: string) => Promise<{ readonly file: string } | { readonly why: string }>;
}

function fileIn(place: string, id: string): string {
  return join(place, uploadNote(id));
}

export function uploadsOf(options: IncidentsOptions, { policy, incidents }: PlatformConfig, io: CliIo): Uploads {
  // The directory of another machine's Pointsman is not here.
  const directory = options.directory ?? (options.admin === undefined ? incidents : undefined);
  const own = stateDirectory(io);
  const places = [directory, own && join(own, 'uploads')].filter((place) => place !== undefined);
  return {
    async find(id) {
      for (const place of places) {
        const { value, why } = await readState(fileIn(place, id), uploadFile);
        if (why !== undefined && place !== directory) return why;
        if (value?.url === policy.url) return value;
      }
      return undefined;
    },
    async place(id) {
      let why = 'HOME is not set, so there is no place to note the upload';
      for (const place of places) {
        // The directory of incidents belongs to the user that runs Pointsman: it is not made here.
        const unwritable = await whyNotWritable(fileIn(place, id), { make: place !== directory });
        if (unwritable === undefined) return { file: fileIn(place, id) };
        why = unwritable;
      }
      return { why };
    },
  };
}

// The skills that were published from here, by platform: their ids, names and contents.
import { join } from 'node:path';
import { z } from 'zod';
import { readState, stateDirectory, writeState } from '../state-file.ts';
import type { CliIo } from '../../cli/io.ts';

const published = z.object({
  /** The address of the platform. */
  url: z.string(),
  skill_id: z.string(),
  name: z.string(),
  directory: z.string(),
  /** Null: the last version was deleted. */
  sha256: z.string().nullable(),
  version: z.string().nullable(),
  published_at: z.string(),
});
export type PublishedSkill = z.infer<typeof published>;

const recordFile = z.object({ published: z.array(published) });

export interface SkillRecord {
  readonly file: string;
  /** The skills on this platform. */
  readonly entries: readonly PublishedSkill[];
  /** Undefined: it is written. Else the reason. */
  readonly replace: (id: string, entry: PublishedSkill | undefined) => Promise<string | undefined>;
}

export interface RecordOptions {
  /** Default: in the state directory of the user. */
  readonly record?: string | undefined;
}

const NO_PLACE = 'HOME is not set, so there is no place for the record of published skills: use --record FILE';

/** A text is the reason why there is none. */
export async function openRecord({ record }: RecordOptions, url: string, io: CliIo): Promise<SkillRecord | string> {
  const directory = stateDirectory(io);
  const file = record ?? (directory && join(directory, 'skills.json'));
  if (file === undefined) return NO_PLACE;
  const { value, why } = await readState(file, recordFile);
  if (why !== undefined) return why;
  const all = value?.published ?? [];
  return {
    file,
    entries: all.filter((entry) => entry.url === url),
    replace: (id: string, entry: PublishedSkill | undefined) => {
      const others = all.filter((one) => one.url !== url || one.skill_id !== id);
      return writeState(file, { published: entry === undefined ? others : [...others, entry] });
    },
  };
}

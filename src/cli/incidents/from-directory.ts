// The incidents in a directory: those of a Pointsman that runs or ran, or a copy of them.
import { unreadable } from '../../config/files/unusable-files.ts';
import { FileStore } from '../../incidents/file-store.ts';
import type { IncidentEntry } from '../../incidents/schema.ts';
import { redacted } from '../../incidents/redact.ts';
import { incidentText } from '../../incidents/incident-text.ts';
import { fail } from '../command-end.ts';
import type { CliIo } from '../io.ts';
import { json } from '../json.ts';
import type { ShowHow, IncidentSource } from './source.ts';

/** Nothing is written, so nothing makes room. */
const ALL = { keep: Infinity, maxBytes: Infinity };
const MOST_NAMED = 5;

export async function fromDirectory(directory: string, io: CliIo): Promise<IncidentSource> {
  const store = new FileStore(directory, ALL);
  let entries: readonly IncidentEntry[];
  try {
    entries = await store.entries();
  } catch (error) {
    return fail(io, `${directory} ${unreadable(error)}`);
  }
  return {
    list: () => Promise.resolve(entries),
    show: async (wanted, how) => {
      const id = wanted === 'latest' ? entries[0]?.id : wanted;
      if (id === undefined) return fail(io, `there are no incidents in ${directory}`);
      const document = await store.read(id);
      if (document !== undefined) return textOf(how.isFull ? document : redacted(document), how);
      const named = entries.slice(0, MOST_NAMED).map((entry) => entry.id);
      const more = entries.length > named.length ? ', …' : '';
      return fail(
        io,
        `unknown incident ${id}: the incidents in ${directory} are ${named.join(', ') || '(none)'}${more}`,
      );
    },
  };
}

function textOf(document: Parameters<typeof incidentText>[0], { isJson }: ShowHow): string {
  return isJson ? json({ ...document }) : incidentText(document);
}

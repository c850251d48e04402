// `pointsman incidents upload`: stores the redacted text of an incident on the platform, once.
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { looseReader } from '../../documents/loose-reader.ts';
import { incidentDocument } from '../../incidents/schema.ts';
import { EXIT, type CliIo } from '../../cli/io.ts';
import { json } from '../../cli/json.ts';
import { asked, fail, openPlatform, type PlatformParts } from '../platform-context.ts';
import { sourceOf, type IncidentsOptions, type IncidentSource } from '../../cli/incidents/incident-source.ts';
import { writeState } from '../state-file.ts';
import { uploadsOf, type Upload } from './uploads.ts';

export interface UploadOptions extends IncidentsOptions {
  /** Also when it is stored already. */
  readonly again?: boolean | undefined;
}

const headReader = looseReader(incidentDocument.pick({ id: true, state: true, recorder: true, redaction: true }), {
  needed: ['id state recorder run redaction redacted'],
});
type IncidentHead = z.infer<typeof headReader>;

export async function uploadIncident(
  wanted: string,
  options: UploadOptions,
  io: CliIo,
  parts: PlatformParts,
): Promise<number> {
  const context = await openPlatform(options, io, parts);
  const source = await sourceOf(options, io);
  const found = await headOf(source, wanted, io);
  const uploads = uploadsOf(options, context, io);
  const known = await uploads.find(found.id);
  if (typeof known === 'string') return fail(io, known);
  if (known !== undefined && options.again !== true && isTheSame(known, found))
    return report(found, known, options, io);
  const content = Buffer.from(await source.show(found.id, { isJson: false, isFull: false }));
  const place = await uploads.place(found.id);
  if ('why' in place) return fail(io, `${place.why}. Nothing was sent`);
  const stored = await asked(
    io,
    context.client.uploadFile({ name: `${found.id}.txt`, mediaType: 'text/plain', content }),
    ': look at the files of the platform before you repeat it',
  );
  const upload: Upload = {
    url: context.policy.url,
    file_id: stored,
    state: found.state,
    run: found.recorder.run,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
    uploaded_at: new Date().toISOString(),
  };
  if (options.json === true) io.stdout(json({ incident: found.id, changed: true, ...upload }));
  else io.stdout(`incident ${found.id}: stored as ${upload.file_id}, ${upload.bytes} bytes${openNote(found)}\n`);
  const failed = await writeState(place.file, upload);
  return failed === undefined ? EXIT.ok : fail(io, `${failed}. The file is stored as ${upload.file_id}`);
}

/** The document itself says what it is: its text is sent only if it is redacted. */
async function headOf(source: IncidentSource, wanted: string, io: CliIo): Promise<IncidentHead> {
  const text = await source.show(wanted, { isJson: true, isFull: false });
  const { data } = headReader.safeParse(JSON.parse(text));
  if (data === undefined) return fail(io, `incident ${wanted} has another form: it comes from another version`);
  return data.redaction.redacted ? data : fail(io, `incident ${data.id} is not redacted, so it is not sent`);
}

/** An incident that was open is sent again when it has settled. */
function isTheSame(known: Upload, found: IncidentHead): boolean {
  return known.run === found.recorder.run && known.state === found.state;
}

function report(found: IncidentHead, known: Upload, options: UploadOptions, io: CliIo): number {
  if (options.json === true) io.stdout(json({ incident: found.id, changed: false, ...known }));
  else {
    const hint = found.state === 'open' ? '; --again stores it as it is now' : '';
    io.stdout(`incident ${found.id}: stored already, as ${known.file_id}; nothing was sent${hint}\n`);
  }
  return EXIT.ok;
}

function openNote({ state }: IncidentHead): string {
  return state === 'open' ? '; it is still open: upload it again when it has settled' : '';
}

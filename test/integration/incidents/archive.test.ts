// The files of incidents, on a real disk: whole or absent, within their limits, and memory where the disk fails.
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Archive } from '../../../src/incidents/archive.ts';
import { incidentText } from '../../../src/incidents/incident-text.ts';
import { incidentLab, routeChange } from '../../support/fakes/incident-lab.ts';
import { anIncident } from '../../support/values/incidents.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pointsman-incidents-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function anArchive({ keep = 50, maxBytes = 1024 * 1024, at = directory } = {}) {
  const failures: string[] = [];
  const archive = new Archive({ directory: at, keep, maxBytes, onFailing: (why) => failures.push(why) });
  await archive.open();
  return { archive, failures };
}

const files = async (): Promise<readonly string[]> =>
  (await readdir(directory)).filter((file) => /^\d/.test(file)).toSorted();

test('a document is written whole, for its owner alone, and read again by the next run', async () => {
  const { archive } = await anArchive();
  const document = anIncident();
  archive.save(document);
  await archive.written();
  expect(await files()).toEqual(['2026-11-22-1.json']);
  expect((await stat(join(directory, '2026-11-22-1.json'))).mode & 0o777).toBe(0o600);
  const { archive: next } = await anArchive();
  expect(next.list()).toMatchObject([{ id: '2026-11-22-1', summary: document.summary }]);
  expect(await next.get('2026-11-22-1')).toEqual(document);
  expect(next.newId('2026-11-22')).toBe('2026-11-22-2');
});

test('the oldest go when there are too many, or too much', async () => {
  const { archive } = await anArchive({ keep: 2 });
  for (const id of ['2026-11-22-9', '2026-11-22-10', '2026-11-23-1']) archive.save(anIncident({ id }));
  await archive.written();
  expect(await files()).toEqual(['2026-11-22-10.json', '2026-11-23-1.json']);
  expect(archive.list().map(({ id }) => id)).toEqual(['2026-11-23-1', '2026-11-22-10']);
  const { archive: small } = await anArchive({ maxBytes: 10 });
  small.save(anIncident({ id: '2026-11-24-1' }));
  await small.written();
  expect(await files()).toEqual(['2026-11-24-1.json']);
});

test('the note of an upload goes with its incident, and is no incident', async () => {
  const { archive } = await anArchive({ keep: 1 });
  archive.save(anIncident({ id: '2026-11-22-1' }));
  await archive.written();
  await writeFile(join(directory, '2026-11-22-1.upload.json'), '{}');
  const { archive: next } = await anArchive({ keep: 1 });
  expect(next.list().map(({ id }) => id)).toEqual(['2026-11-22-1']);
  next.save(anIncident({ id: '2026-11-22-2' }));
  await next.written();
  expect(await files()).toEqual(['2026-11-22-2.json']);
});

test('an incident that was open when the process ended is marked', async () => {
  const { archive } = await anArchive();
  archive.save(anIncident({ state: 'open', settled_at: null }));
  await archive.written();
  await writeFile(join(directory, '2026-11-22-2.json.tmp'), '{"half":');
  const { archive: next } = await anArchive();
  expect(await next.get('2026-11-22-1')).toMatchObject({
    state: 'settled',
    interrupted: true,
    settled_at: null,
    missing: [{ what: 'process_ended' }],
  });
  expect(next.list()).toMatchObject([{ state: 'settled' }]);
  const document = await next.get('2026-11-22-1');
  expect(document && incidentText(document)).toContain('State: interrupted; opened ');
  expect((await readdir(directory)).filter((file) => file.endsWith('.tmp'))).toEqual([]);
});

test('a broken file and a broken index lose nothing else', async () => {
  const { archive } = await anArchive();
  archive.save(anIncident());
  await archive.written();
  await writeFile(join(directory, '2026-11-22-3.json'), '{"id": 3}');
  await writeFile(join(directory, 'index.json'), 'nonsense');
  const { archive: next } = await anArchive();
  expect(next.list().map(({ id }) => id)).toEqual(['2026-11-22-1']);
  expect(await next.get('2026-11-22-3')).toBeUndefined();
  expect(await next.get('../secret')).toBeUndefined();
});

test('a pipe and a huge file with the name of an incident hold nobody up', async () => {
  execFileSync('mkfifo', [join(directory, '2026-11-22-5.json')]);
  const huge = join(directory, '2026-11-22-6.json');
  await writeFile(huge, '');
  await truncate(huge, 300 * 1024 * 1024);
  const { archive } = await anArchive();
  expect(archive.list()).toEqual([]);
  expect(await archive.get('2026-11-22-5')).toBeUndefined();
  expect(await archive.get('2026-11-22-6')).toBeUndefined();
});

test('where the directory cannot be used incidents stay in memory; that is said once', async () => {
  const file = join(directory, 'file');
  await writeFile(file, '');
  const { archive, failures } = await anArchive({ at: join(file, 'below') });
  for (const id of ['2026-11-22-1', '2026-11-22-2']) archive.save(anIncident({ id }));
  await archive.written();
  expect(archive.list().map(({ id }) => id)).toEqual(['2026-11-22-2', '2026-11-22-1']);
  expect(await archive.get('2026-11-22-1')).toMatchObject({ id: '2026-11-22-1' });
  expect(failures.length).toBe(1);
});

test('a disk that fails and works again gets what it missed', async () => {
  const { archive, failures } = await anArchive();
  await rm(directory, { recursive: true });
  archive.save(anIncident({ id: '2026-11-22-1' }));
  archive.save(anIncident({ id: '2026-11-22-2' }));
  await archive.written();
  expect(failures.length).toBe(1);
  await anArchive();
  archive.save(anIncident({ id: '2026-11-22-3' }));
  await archive.written();
  expect(await files()).toEqual(['2026-11-22-1.json', '2026-11-22-2.json', '2026-11-22-3.json']);
});

test('a recorder writes its incident when it opens, and as interrupted when it is closed', async () => {
  const archive = { directory, keep: 5, maxBytes: 1024 * 1024, onFailing: () => {} };
  const { recorder, take, clock } = incidentLab({ archive });
  await recorder.open();
  take(routeChange('write', 'pg-1'));
  take(routeChange('write'));
  await clock.advance(1_000);
  take(routeChange('write', 'pg-2'));
  await recorder.close();
  const written = JSON.parse(await readFile(join(directory, '2026-11-22-1.json'), 'utf8'));
  expect(written).toMatchObject({
    state: 'settled',
    settled_at: null,
    interrupted: true,
    kinds: ['primary_lost', 'primary_changed'],
  });
});

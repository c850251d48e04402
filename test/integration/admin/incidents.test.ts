// GET /incidents and /incidents/ID over real sockets: the forms of the answer, the redaction, and the token for it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { incidentList } from '../../../src/documents/incident-list.ts';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import { incidentDocument } from '../../../src/incidents/schema.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { anIncident, anIncidentEntry } from '../../support/values/incidents.ts';

const TOKEN = '0123456789abcdef-secret';
let entries = [anIncidentEntry({ id: '2026-11-22-2', state: 'open', settled_at: null }), anIncidentEntry()];
const isKnown = (id: string): boolean => entries.some((entry) => entry.id === id);
const admin = createAdmin(
  adminOptions({
    token: () => Promise.resolve({ kind: 'token', value: TOKEN }),
    incidents: {
      list: () => entries,
      currentId: () => entries[0]?.id,
      get: (id, { isUnredacted = false }) =>
        Promise.resolve(
          isKnown(id) ? anIncident({ id, redaction: { redacted: !isUnredacted, note: 'a note' } }) : undefined,
        ),
      text: (id, { isUnredacted = false }) =>
        Promise.resolve(isKnown(id) ? `Incident ${id}${isUnredacted ? ' of 10.0.0.7' : ''}\n` : undefined),
    },
  }),
);
let url: string;

beforeAll(async () => {
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  url = `http://127.0.0.1:${listening.address.port}/incidents`;
});
afterAll(() => admin.close());

const ask = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${url}${path}`, { headers: { ...headers } });
const SIGNED = { authorization: `Bearer ${TOKEN}` };

async function documentOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const { api_version: version, ...document } = Object(await response.json());
  expect(version).toBe(1);
  return document;
}

test('the list has the newest first', async () => {
  const { incidents, current_id: current } = incidentList.parse(await documentOf(await ask('')));
  expect(incidents.map(({ id }) => id)).toEqual(['2026-11-22-2', '2026-11-22-1']);
  expect(current).toBe('2026-11-22-2');
});

test.each([
  ['/2026-11-22-1', '2026-11-22-1'],
  ['/latest', '2026-11-22-2'],
])('%s is a redacted document', async (path, id) => {
  const document = incidentDocument.parse(await documentOf(await ask(path)));
  expect(document).toMatchObject({ id, redaction: { redacted: true } });
});

test.each([
  ['?format=text', ''],
  ['', 'text/plain'],
])('a text for a ticket: with "%s" and Accept "%s"', async (query, accept) => {
  const response = await ask(`/latest${query}`, accept === '' ? {} : { accept });
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await response.text()).toBe('Incident 2026-11-22-2\n');
});

test('JSON wins where both are accepted', async () => {
  const response = await ask('/latest', { accept: 'application/json, text/plain, */*' });
  expect(response.headers.get('content-type')).toBe('application/json');
});

test('without redaction only with the token', async () => {
  for (const headers of [{}, { authorization: 'Bearer another-token-0123' }]) {
    const refused = await ask('/latest?redact=off', headers);
    expect(refused.status).toBe(401);
    expect(await documentOf(refused)).toEqual({
      error: 'redact=off needs the admin token: send Authorization: Bearer TOKEN',
    });
  }
  expect(await (await ask('/latest?redact=off&format=text', SIGNED)).text()).toContain('10.0.0.7');
  const document = incidentDocument.parse(await documentOf(await ask('/latest?redact=off', SIGNED)));
  expect(document.redaction.redacted).toBe(false);
  expect(await (await ask('/latest?format=text', SIGNED)).text()).not.toContain('10.0.0.7');
});

test('an unknown incident, and none at all', async () => {
  const unknown = await ask('/2026-01-01-1');
  expect(unknown.status).toBe(404);
  expect(await documentOf(unknown)).toEqual({
    error: 'unknown incident 2026-01-01-1: the incidents are 2026-11-22-2, 2026-11-22-1',
  });
  entries = [];
  expect(await documentOf(await ask('/latest'))).toEqual({ error: 'there are no incidents' });
  expect(await documentOf(await ask(''))).toEqual({ current_id: null, incidents: [] });
});

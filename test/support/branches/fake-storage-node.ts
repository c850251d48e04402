// A storage node that keeps contract 2 to the letter: it answers only what the contract has, and notes every request
// that the contract does not have. Where the contract is silent, its quirks decide.
import { startFakeServer, strictBody } from './fake-server.ts';
import type { FakeAnswer, FakeRequest, FakeServer } from './fake-server.ts';
import { extraFields, ordered, PLAIN } from './quirks.ts';
import type { Quirks } from './quirks.ts';

export interface FakeTimeline {
  readonly id: string;
  readonly ancestorId: string | undefined;
  readonly ancestorLsn: string | undefined;
  lastRecord: number;
  /** Answers still to come before it lasts. Empty: it lasts. */
  pending: number[];
}

export interface FakeStorageNode extends FakeServer {
  readonly tenant: string;
  /** The timeline without a parent that is there from the start. */
  readonly root: string;
  readonly timelines: Map<string, FakeTimeline>;
  addTimeline(timeline: Partial<FakeTimeline>): FakeTimeline;
}

const HEX = /^[0-9a-f]{32}$/;
const LSN = /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/i;

export const lsnText = (bytes: number): string =>
  `${Math.floor(bytes / 2 ** 32).toString(16)}/${(bytes % 2 ** 32).toString(16)}`.toUpperCase();

export async function startFakeStorageNode(given: Partial<Quirks> = {}): Promise<FakeStorageNode> {
  const quirks = { ...PLAIN, ...given };
  const tenant = '9ef87a5bf0d92544f6fafeeb3239695c';
  const timelines = new Map<string, FakeTimeline>();
  const addTimeline = (timeline: Partial<FakeTimeline>): FakeTimeline => {
    const id = timeline.id ?? (timelines.size + 1).toString(16).padStart(32, '0');
    const added = {
      ancestorId: undefined,
      ancestorLsn: undefined,
      lastRecord: 0x169ad58,
      pending: [],
      ...timeline,
      id,
    };
    timelines.set(id, added);
    return added;
  };
  const root = addTimeline({}).id;
  let creations = 0;

  const recordOf = ({ id, ancestorId, ancestorLsn, lastRecord }: FakeTimeline): object => ({
    ...extraFields(quirks),
    timeline_id: id,
    ...(ancestorId === undefined
      ? {
          ...(quirks.noParent === 'null' ? { ancestor_timeline_id: null } : {}),
          ...(quirks.hasRootLsn ? { ancestor_lsn: '0/0' } : {}),
        }
      : { ancestor_timeline_id: ancestorId, ancestor_lsn: ancestorLsn }),
    last_record_lsn: lsnText(lastRecord),
  });
  const isShown = ({ pending }: FakeTimeline): boolean => pending.length === 0 || quirks.isVisibleEarly;

  const remove = (id: string): FakeAnswer => {
    if (!timelines.has(id)) return { status: 404 };
    if ([...timelines.values()].some(({ ancestorId }) => ancestorId === id)) return { status: quirks.childrenCode };
    timelines.delete(id);
    return { status: quirks.deletedCode };
  };

  const create = (request: FakeRequest, violations: string[]): FakeAnswer => {
    const number = creations;
    creations += 1;
    const required = ['new_timeline_id', 'ancestor_timeline_id', 'pg_version'];
    const body = strictBody(request, required, ['ancestor_start_lsn'], violations) ?? {};
    const id = String(body['new_timeline_id']);
    const ancestorId = String(body['ancestor_timeline_id']);
    const lsn = body['ancestor_start_lsn'];
    if (!HEX.test(id)) violations.push('new_timeline_id is no 16 bytes as hex');
    if (lsn !== undefined && !(typeof lsn === 'string' && LSN.test(lsn))) violations.push('ancestor_start_lsn');
    if (!Number.isInteger(body['pg_version'])) violations.push('pg_version is no integer');
    if (quirks.lostBefore.has(number)) return 'lost';
    const answer = createTimeline(id, ancestorId, typeof lsn === 'string' ? lsn : undefined);
    return quirks.lostAfter.has(number) ? 'lost' : answer;
  };

  const createTimeline = (id: string, ancestorId: string, wanted: string | undefined): FakeAnswer => {
    const parent = timelines.get(ancestorId);
    if (parent === undefined || parent.pending.length > 0) return { status: 406 };
    const position = bytesOf(wanted) ?? parent.lastRecord;
    // As the real server does: what was left out is the parent's position of now, also for a request that is repeated.
    const lsn = lsnText(position);
    const known = timelines.get(id);
    if (known === undefined) {
      if (position > parent.lastRecord || position < 0x1000) return { status: 406 };
      addTimeline({ id, ancestorId, ancestorLsn: lsn, lastRecord: position, pending: [...quirks.whileCreating] });
    } else if (known.ancestorId !== ancestorId || known.ancestorLsn !== lsn) {
      return { status: 409 };
    }
    const later = timelines.get(id)?.pending.shift();
    return later === undefined ? { status: 201 } : { status: later };
  };

  const answer = (request: FakeRequest, violations: string[]): FakeAnswer => {
    const { method, path } = request;
    const list = `/v1/tenant/${tenant}/timeline`;
    const rootTimeline = timelines.get(root);
    if (quirks.isParentAdvancing && rootTimeline !== undefined) rootTimeline.lastRecord += 0x2000;
    if (method !== 'POST' && request.body !== '') violations.push(`${method} ${path}: a body`);
    if (method === 'GET' && path === '/v1/tenant') {
      return { status: 200, document: ordered([{ ...extraFields(quirks), id: tenant }], quirks) };
    }
    if (method === 'GET' && path === list) {
      return { status: 200, document: ordered([...timelines.values()].filter(isShown).map(recordOf), quirks) };
    }
    if (method === 'POST' && path === `${list}/`) return create(request, violations);
    const id = path.startsWith(`${list}/`) ? path.slice(list.length + 1) : '';
    if (id === '' || id.includes('/') || !['GET', 'DELETE'].includes(method)) {
      if (!path.startsWith('/v1/tenant/')) violations.push(`${method} ${path} is not in the contract`);
      return { status: 404 };
    }
    if (method === 'DELETE') return remove(id);
    const found = timelines.get(id);
    return found === undefined || !isShown(found) ? { status: 404 } : { status: 200, document: recordOf(found) };
  };

  const server = await startFakeServer(quirks, answer);
  return Object.assign(server, { tenant, root, timelines, addTimeline });
}

function bytesOf(lsn: string | undefined): number | undefined {
  if (lsn === undefined) return undefined;
  const [high = '', low = ''] = lsn.split('/');
  return Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16);
}

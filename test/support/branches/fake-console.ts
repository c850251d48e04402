// A console that keeps contract 2 to the letter. Where the contract is silent, its quirks decide.
import { isRecord, keyFaults, startFakeServer, strictBody } from './fake-server.ts';
import type { FakeAnswer, FakeRequest, FakeServer } from './fake-server.ts';
import { extraFields, ordered, PLAIN } from './quirks.ts';
import type { Quirks } from './quirks.ts';
import { BRANCHES_KEY } from '../values/canaries.ts';

export interface FakeBranch {
  readonly id: string;
  readonly name: string;
  readonly parentId: string | undefined;
  readonly parentLsn: string | undefined;
  readonly endpoints: readonly string[];
  readonly isSchemaOnly: boolean;
  /** Lists still to come that do not show it. */
  hiddenFor: number;
}

export interface FakeConsole extends FakeServer {
  readonly project: string;
  readonly apiKey: string;
  /** The id of the default branch, `main`. */
  readonly root: string;
  readonly branches: FakeBranch[];
  addBranch(branch: Partial<FakeBranch>): FakeBranch;
}

const ENDPOINTS: ReadonlySet<unknown> = new Set(['read_write', 'read_only']);

export async function startFakeConsole(given: Partial<Quirks> = {}): Promise<FakeConsole> {
  const quirks = { ...PLAIN, ...given };
  const project = 'calm-sea-1234';
  const apiKey = BRANCHES_KEY;
  const branches: FakeBranch[] = [];
  const addBranch = (branch: Partial<FakeBranch>): FakeBranch => {
    const number = branches.length + 1;
    const added = {
      id: `br-quiet-hill-${number}`,
      name: `branch-${number}`,
      parentId: undefined,
      parentLsn: undefined,
      endpoints: [],
      isSchemaOnly: false,
      hiddenFor: 0,
      ...branch,
    };
    branches.push(added);
    return added;
  };
  const root = addBranch({ name: 'main', endpoints: ['read_write'] }).id;
  let creations = 0;

  const recordOf = ({ id, name, parentId, parentLsn, endpoints }: FakeBranch): object => ({
    ...extraFields(quirks),
    id,
    name,
    ...(parentId === undefined
      ? quirks.noParent === 'null'
        ? { parent_id: null }
        : {}
      : { parent_id: parentId, parent_lsn: parentLsn }),
    ...(quirks.hasEndpoints ? { endpoints: endpoints.map((type, index) => ({ id: `ep-${index}`, type })) } : {}),
  });

  const list = (): FakeAnswer => {
    const shown = branches.filter(({ hiddenFor }) => hiddenFor === 0);
    for (const branch of branches) branch.hiddenFor = Math.max(0, branch.hiddenFor - 1);
    return { status: 200, document: { ...extraFields(quirks), branches: ordered(shown.map(recordOf), quirks) } };
  };

  const create = (request: FakeRequest, violations: string[]): FakeAnswer => {
    const number = creations;
    creations += 1;
    const body = strictBody(request, [], ['branch', 'endpoints'], violations) ?? {};
    const branch = isRecord(body['branch']) ? body['branch'] : {};
    const endpoints = Array.isArray(body['endpoints']) ? body['endpoints'] : [];
    violations.push(...keyFaults(branch, [], ['name', 'parent_id', 'init_source']));
    for (const endpoint of endpoints) {
      const isKnown = isRecord(endpoint) && keyFaults(endpoint, ['type'], []).length === 0;
      if (!isKnown || !ENDPOINTS.has(endpoint['type'])) violations.push('an endpoint has a type alone');
    }
    if (!['schema-only', undefined].some((value) => value === branch['init_source'])) violations.push('init_source');
    if (quirks.lostBefore.has(number)) return 'lost';
    const later = quirks.whileCreating[number];
    if (later !== undefined) return { status: later };
    const parent = branches.find(({ id }) => id === (branch['parent_id'] ?? root));
    if (parent === undefined) return { status: 404 };
    addBranch({
      // A console does not say whether names are unique: this one takes any.
      ...(typeof branch['name'] === 'string' ? { name: branch['name'] } : {}),
      parentId: parent.id,
      parentLsn: '0/169AD58',
      endpoints: endpoints.map((endpoint: unknown) => (isRecord(endpoint) ? String(endpoint['type']) : '')),
      isSchemaOnly: branch['init_source'] === 'schema-only',
      hiddenFor: quirks.listsUntilShown,
    });
    return quirks.lostAfter.has(number) ? 'lost' : { status: quirks.createdCode };
  };

  const server = await startFakeServer(quirks, (request, violations) => {
    const { method, path, headers } = request;
    if (headers['content-type'] !== 'application/json') violations.push(`${method} ${path}: content-type`);
    if (headers.authorization !== `Bearer ${apiKey}`) return { status: 401 };
    if (path === `/api/v2/projects/${project}/branches` && method === 'GET') return list();
    if (path === `/api/v2/projects/${project}/branches` && method === 'POST') return create(request, violations);
    if (!/^\/api\/v2\/projects\/[^/]+\/branches$/.test(path))
      violations.push(`${method} ${path} is not in the contract`);
    return { status: 404 };
  });
  return Object.assign(server, { project, apiKey, root, branches, addBranch });
}

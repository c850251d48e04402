// One contract test in progress: its target, its expectations, and the usual requests.
import { isDeepStrictEqual } from 'node:util';
import type { Tags } from '../patroni/documents.ts';
import type { MemberAddress } from '../patroni/member.ts';
import { waitUntil } from '../waiting/wait.ts';
import type { Expectations } from './expectations.ts';
import { performing } from './performed.ts';
import type { Performing } from './performed.ts';
import { type Answer, ask, type JsonRecord, list, parse, type Question, record, typeName } from './questions.ts';
import type { ContractTarget } from './target.ts';

const PATIENCE_MS = 30_000;

export interface ContractRun extends Performing {
  readonly target: ContractTarget;
  readonly expected: Expectations['expected'];
  ask(member: MemberAddress, path: string, question?: Question): Promise<Answer>;
  status(member: MemberAddress, path: string, method?: string): Promise<number>;
  /** The node status document. */
  node(member: MemberAddress): Promise<JsonRecord>;
  /** The cluster document, from the first member that answers. */
  cluster(): Promise<JsonRecord>;
  entry(name: string): Promise<JsonRecord>;
  config(): Promise<JsonRecord>;
  /** Until `config()` returns this. */
  settled(wanted: JsonRecord): Promise<unknown>;
  /** Returns the answer when `config()` returns the same. */
  patch(changes: JsonRecord): Promise<JsonRecord>;
  /** Changes the configuration for as long as `run` takes. */
  withConfig(changes: JsonRecord, run: () => Promise<void>): Promise<void>;
  withTags(member: MemberAddress, tags: Tags, run: () => Promise<void>): Promise<void>;
  leader(): Promise<MemberAddress>;
  replicas(): Promise<readonly [MemberAddress, MemberAddress]>;
  until<T>(what: string, look: () => Promise<T | undefined | false>, timeoutMs?: number): Promise<T>;
  sql(member: MemberAddress, text: string): Promise<unknown>;
}

async function status(member: MemberAddress, path: string, method = 'GET'): Promise<number> {
  return (await ask(member, path, { method })).status;
}

/** A run without expectations. */
export function questionsTo(target: ContractTarget): Omit<ContractRun, 'expected'> {
  const until = <T>(what: string, look: () => Promise<T | undefined | false>, timeoutMs = PATIENCE_MS): Promise<T> =>
    waitUntil(what, look, { timeoutMs, explain: () => target.describeState() });
  const node = async (member: MemberAddress) => record(parse(await ask(member, target.statusPath)));
  const anybody = <T>(look: (member: MemberAddress) => Promise<T>): Promise<T> =>
    Promise.any(target.members().map(look));
  const cluster = () => anybody(async (member) => record(parse(await ask(member, '/cluster'))));
  const entry = async (name: string) => {
    const entries = list((await cluster())['members']).map(record);
    return entries.find((member) => member['name'] === name) ?? {};
  };
  const isPrimary = async (member: MemberAddress): Promise<MemberAddress> => {
    const [answer, document] = await Promise.all([ask(member, '/primary'), node(member)]);
    // `master` is the word of Patroni before 4.0.
    if (answer.status === 200 && ['primary', 'master'].includes(String(document['role']))) return member;
    throw new Error(`${member.name} is not the primary`);
  };
  const leader = () => until('a leader', () => anybody(isPrimary));
  // Always from the same member: the others may answer with the previous one for as long as loop_wait.
  const config = () => firstOf(target.members(), async (member) => record(parse(await ask(member, '/config'))));
  const settled = (wanted: JsonRecord) =>
    until('configuration in force', async () => isDeepStrictEqual(await config(), wanted));
  const { control, perform } = performing(target);
  const patch = async (changes: JsonRecord) => {
    const result = await firstOf(target.members(), (member) => patchConfig(perform, member, changes));
    await settled(result);
    return result;
  };
  return {
    target,
    control,
    perform,
    ask,
    status,
    node,
    cluster,
    entry,
    config,
    settled,
    patch,
    leader,
    until,
    sql: async (member, text) => Object.values((await target.sql(member, text))[0] ?? {})[0],
    replicas: async () => {
      const { name } = await leader();
      const [first, second] = target.members().filter((member) => member.name !== name);
      if (first === undefined || second === undefined) throw new Error('two replicas are needed');
      return [first, second];
    },
    withConfig: async (changes, run) => {
      const before = await config();
      await patch(changes);
      try {
        await run();
      } finally {
        await patch(inverse(before, changes));
      }
    },
    withTags: async (member, tags, run) => {
      const set = async (wanted: Tags) => {
        await target.configureTags(member.name, wanted);
        await perform({ kind: 'reload', member: member.name });
        const shown = async () => isDeepStrictEqual((await node(member))['tags'] ?? {}, wanted);
        await until(`tags of ${member.name}`, shown);
      };
      await set(tags);
      try {
        await run();
      } finally {
        await set({});
      }
    },
  };
}

/** The result of the first one, in their order, that does not fail. */
async function firstOf<T>(members: readonly MemberAddress[], act: (member: MemberAddress) => Promise<T>): Promise<T> {
  const failures: unknown[] = [];
  for (const member of members) {
    try {
      return await act(member);
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, failures.map(String).join('\n'));
}

async function patchConfig(
  perform: Performing['perform'],
  member: MemberAddress,
  changes: JsonRecord,
): Promise<JsonRecord> {
  const result = await perform({ kind: 'patch_config', changes }, member);
  if (result.kind !== 'done') throw new Error(`PATCH /config of ${member.name}: ${result.text}`);
  return record(result.config);
}

/** The patch that takes `changes` back. */
function inverse(before: JsonRecord, changes: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(changes).map(([key, value]) => {
      const old = before[key];
      return [
        key,
        typeName(value) === 'object' && typeName(old) === 'object'
          ? inverse(record(old), record(value))
          : (old ?? null),
      ];
    }),
  );
}

// Operates the cluster by the members' own APIs. Only addresses that discovery's trust rules allow are contacted.
import type { ApiEndpoint, Member, MemberName } from '../model/member.ts';
import type { ReadFailure } from '../patroni/failure.ts';
import type { TimelineEnd } from '../patroni/history.ts';
import type { DocumentReader, OwnReport } from '../patroni/read-documents.ts';
import { requestOf, type WriteRequest } from '../patroni/write-requests.ts';
import type { Write } from '../patroni/write.ts';
import { reportOf } from './cluster-report.ts';
import type { ClusterControl, ClusterOperation, ControlReading } from './control.ts';
import type {
  ClusterConfiguration,
  ClusterReport,
  HistoryEntry,
  OperationResult,
  PlannedRequest,
} from '../documents/cluster-documents.ts';
import { notSent, resultOf } from './operation-words.ts';
import { orderFault } from './restart-order.ts';
import { clusterTargets, targetsOf, type FoundCluster, type ApiTargets } from './targets.ts';
import { whyInvalid } from './valid-operation.ts';

export interface DirectControlOptions {
  /** The source until an API has answered. */
  readonly seeds: string;
  /** Never rejects. */
  readonly find: () => Promise<FoundCluster>;
  readonly reader: Pick<DocumentReader, 'readHistory' | 'readConfig' | 'readOwnReport'>;
  readonly write: Write;
  readonly hasCredentials: boolean;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
}

/** For one document. Milliseconds. */
const READ_MS = 5000;
/** For the report of one member about itself. Milliseconds. */
const OWN_REPORT_MS = 2000;

export class DirectControl implements ClusterControl {
  readonly #options: DirectControlOptions;
  #source: string;

  constructor(options: DirectControlOptions) {
    this.#options = options;
    this.#source = options.seeds;
  }

  readonly source = (): string => this.#source;

  readonly report = async (): Promise<ControlReading<ClusterReport>> => {
    const found = await this.#options.find();
    if (found.kind === 'failed') return { kind: 'unreadable', why: found.why };
    this.#source = found.from.url;
    return { kind: 'read', value: await this.#reportOf(found) };
  };

  readonly history = (): Promise<ControlReading<readonly HistoryEntry[]>> =>
    this.#read<readonly HistoryEntry[]>(async (api) => {
      const read = await this.#options.reader.readHistory(api, READ_MS);
      return read.kind === 'history' ? { kind: 'read', value: read.entries.map(entryOf) } : unreadable(read);
    });

  readonly config = (): Promise<ControlReading<ClusterConfiguration>> =>
    this.#read<ClusterConfiguration>(async (api) => {
      const read = await this.#options.reader.readConfig(api, READ_MS);
      return read.kind === 'config' ? { kind: 'read', value: read.config } : unreadable(read);
    });

  readonly plan = async (operation: ClusterOperation): Promise<ControlReading<PlannedRequest>> => {
    const found = await this.#targetsOf(operation);
    if (found.kind === 'unreadable') return found;
    const [{ api }] = found.value;
    const { method, path, body } = await this.#requestOf(operation, api);
    return { kind: 'read', value: { method, url: `${api.url}${path}`, ...(body === undefined ? {} : { body }) } };
  };

  readonly perform = async (operation: ClusterOperation): Promise<OperationResult> => {
    const found = await this.#targetsOf(operation);
    if (found.kind === 'unreadable') return { kind: 'refused', text: found.why };
    const { write, hasCredentials } = this.#options;
    const unreached: string[] = [];
    for (const { api, name } of found.value) {
      const answer = await write(api, await this.#requestOf(operation, api));
      // Another API is asked only while it is certain that none has the request.
      if (answer.kind === 'answered' || answer.isSent) {
        return resultOf({ operation, by: name, answer, hasCredentials });
      }
      unreached.push(`${name} (${answer.why})`);
    }
    return notSent(operation, unreached);
  };

  async #requestOf(operation: ClusterOperation, api: ApiEndpoint): Promise<WriteRequest> {
    // The only operation whose body has another form in each dialect.
    const isOpen = operation.kind === 'reinitialize' && operation.from_leader === true;
    const own = isOpen ? await this.#options.reader.readOwnReport(api, OWN_REPORT_MS) : undefined;
    return requestOf(operation, own?.kind === 'own_report' ? own.report.status.dialect : undefined);
  }

  /** Unreadable where a rule forbids the operation. */
  async #targetsOf(operation: ClusterOperation): Promise<ApiTargets> {
    const invalid = whyInvalid(operation, this.#options.wallClock());
    if (invalid !== undefined) return { kind: 'unreadable', why: invalid };
    const found = await this.#options.find();
    const targets = targetsOf(operation, found);
    if (targets.kind === 'unreadable' || found.kind === 'failed' || operation.kind !== 'restart') return targets;
    // Until the time of a scheduled restart other members may have restarted.
    if (operation.any_order === true || operation.schedule !== undefined) return targets;
    const fault = orderFault(await this.#reportOf(found), operation.member, operation.order);
    return fault === undefined ? targets : { kind: 'unreadable', why: fault.why };
  }

  async #reportOf(found: Extract<FoundCluster, { kind: 'found' }>): Promise<ClusterReport> {
    return reportOf({ ...found, own: await this.#ownReports(found.members) });
  }

  /** From the first API that has a usable answer. */
  async #read<T>(read: (api: ApiEndpoint) => Promise<ControlReading<T>>): Promise<ControlReading<T>> {
    const found = await this.#options.find();
    const known = clusterTargets(found);
    if (known.kind === 'unreadable') return known;
    const problems: string[] = found.kind === 'failed' ? [found.why] : [];
    for (const { api, name } of known.value) {
      const reading = await read(api);
      if (reading.kind === 'read') {
        this.#source = api.url;
        return reading;
      }
      problems.push(`${name}: ${reading.why}`);
    }
    return { kind: 'unreadable', why: problems.join('; ') };
  }

  /** The report of each member about itself. Members that do not answer are left out. */
  async #ownReports(members: readonly Member[]): Promise<ReadonlyMap<MemberName, OwnReport>> {
    const { readOwnReport } = this.#options.reader;
    const reads = members.map(async ({ name, api }) => ({ name, read: await readOwnReport(api, OWN_REPORT_MS) }));
    const reports = new Map<MemberName, OwnReport>();
    for (const { name, read } of await Promise.all(reads)) {
      if (read.kind === 'own_report') reports.set(name, read.report);
    }
    return reports;
  }
}

function unreadable(read: ReadFailure): Extract<ControlReading<never>, { kind: 'unreadable' }> {
  return { kind: 'unreadable', why: read.kind === 'refused' ? 'connection refused' : read.detail };
}

function entryOf({ timeline, lsn, reason, at, newLeader }: TimelineEnd): HistoryEntry {
  return { timeline, lsn, reason, at: at ?? null, new_leader: newLeader ?? null };
}

// Connects the operations that take a while with the parts that they need. Loaded with the first of them: a proxy that
// only routes does not need them.
import type { CoreParts } from './reload.ts';
import { THIS_MACHINE, type Machine } from './machine.ts';
import type { LongOperationsOptions, LongOperations } from '../cluster/long-operations.ts';
import type { ProcedureOptions } from '../cluster/switchover/procedure.ts';
import type { SwitchoversOptions } from '../admin/endpoints/switchover-endpoints.ts';
import type { OperationLock } from '../admin/operation-lock.ts';
import { sessionsOn } from './sessions-on.ts';

/** A plan looks at no more sessions. */
const MOST_LISTED = 10_000;

export interface AppOperationsOptions extends CoreParts {
  readonly operationLock: OperationLock;
  readonly onEvent: LongOperationsOptions['onEvent'];
  /** Default: this machine. */
  readonly machine?: Machine | undefined;
}

export interface AppOperations extends Pick<LongOperations, 'tableChanged' | 'take' | 'reloaded' | 'stop'> {
  readonly admin: SwitchoversOptions['switchovers'];
}

export function createLongOperations(options: AppOperationsOptions): AppOperations {
  let opened: LongOperations | undefined;
  let isStopped = false;
  const open = async (): Promise<LongOperations> => {
    const { LongOperations: Opened } = await import('../cluster/long-operations.ts');
    opened ??= new Opened(optionsOf(options));
    return opened;
  };
  return {
    tableChanged: () => opened?.tableChanged(),
    take: (event) => opened?.take(event),
    reloaded: () => opened?.reloaded(),
    stop: async () => {
      isStopped = true;
      await opened?.stop();
    },
    admin: {
      plan: async (request) => await (await open()).plan(request),
      start: async (request) => {
        const operations = await open();
        return isStopped ? { kind: 'busy' } : operations.start(request);
      },
      list: () => opened?.list() ?? [],
      find: (id) => opened?.find(id),
      cancel: (id) => opened?.cancel(id, 'the operator') ?? { kind: 'unknown' },
    },
  };
}

function optionsOf({
  clock,
  running,
  monitor,
  proxy,
  operationLock,
  onEvent,
  machine: { wallClock, random } = THIS_MACHINE,
}: AppOperationsOptions): LongOperationsOptions {
  const control: ProcedureOptions['control'] = {
    report: async () => await (await running.access.control()).report(),
    config: async () => await (await running.access.control()).config(),
    perform: async (operation) => await (await running.access.control()).perform(operation),
  };
  return {
    site: {
      clock,
      wallClock,
      control,
      known: () => ({ policy: running.config, table: monitor.table(), snapshot: monitor.snapshot() }),
      hint: () => monitor.hint(),
      handOver: (handover) => monitor.handOver(handover),
      sessions: (member) => sessionsOn(proxy, member),
    },
    unreadable: async (member) => {
      const { sessions } = await proxy.sessions({ member, state: 'relaying', limit: MOST_LISTED });
      return sessions.filter(({ tls }) => tls === 'passthrough').length;
    },
    preflight: (member) => proxy.preflight(member),
    verifierFaults: async (member) => {
      const address = monitor.snapshot().members.get(member)?.member.postgres;
      if (running.config.moves === undefined || address === undefined) return [];
      const { verifierFaults } = await import('./check-verifiers.ts');
      return verifierFaults(running.config, { member, address }, clock);
    },
    random,
    onEvent,
    enter: (what) => operationLock.enter(what),
  };
}

// Carries out the operations that an operator requests over HTTP. admin/ has checked the request.
import type { Operations, OwnOperationOutcome } from '../admin/endpoints/operation-endpoints.ts';
import { formatProblems } from '../config/fault.ts';
import type { LoadResult } from '../config/load.ts';
import { describeRoute } from '../core/describe.ts';
import type { MemberName } from '../model/member.ts';
import type { RefusedPrimary } from '../core/refused-primary.ts';
import type { RefusalKind } from '../core/snapshot.ts';
import type { Monitor } from '../monitor/monitor.ts';
import type { ReloadResult } from './reload.ts';
import type { Log } from '../telemetry/log.ts';

/** Reads the configuration file again. Without a file, nothing can have changed. */
export type Load = () => LoadResult | { readonly kind: 'no_file' };

export interface OwnOperationsOptions {
  readonly monitor: Monitor;
  readonly load: Load;
  readonly reload: (loaded: LoadResult) => Promise<ReloadResult>;
  readonly log: Log;
}

export function createOperations({ monitor, load, reload, log }: OwnOperationsOptions): Operations {
  const routes = (): Readonly<Record<string, string>> =>
    Object.fromEntries([...monitor.table().pools].map(([pool, { route }]) => [pool, describeRoute(route)]));
  const told = (
    member: MemberName,
    isDrained: boolean,
    change: (member: MemberName) => boolean,
  ): OwnOperationOutcome => {
    const before = isDrained ? {} : { was_drained: monitor.snapshot().drained.has(member) };
    return change(member)
      ? { kind: 'done', result: { member, drained: isDrained, ...before, pools: routes() } }
      : { kind: 'unknown_member', known: [...monitor.snapshot().members.keys()] };
  };
  return {
    refresh: () => ({ kind: 'done', result: { merged: !monitor.refresh() } }),
    drain: (member) => told(member, true, (name) => monitor.drain(name)),
    resume: (member) => told(member, false, (name) => monitor.resume(name)),
    accept(kind) {
      const accepting = monitor.accept(kind);
      if (accepting.kind === 'impossible') return { kind: 'refused', why: whyNot(kind, accepting.refused) };
      const { member, detail } = accepting.acceptance;
      return { kind: 'done', result: { member, accepted: detail, pools: routes() } };
    },
    async reload() {
      const loaded = load();
      if (loaded.kind === 'no_file') return { kind: 'refused', why: 'no configuration file to reload' };
      const warnings = loaded.kind === 'ok' ? loaded.warnings.map((warning) => formatProblems([warning])) : [];
      for (const warning of warnings) log.warn({ event: 'config_warning' }, warning);
      const reloaded = await reload(loaded);
      if (reloaded.kind === 'failed') return { kind: 'refused', why: 'nothing changed', problems: reloaded.problems };
      const { changed, needsRestart } = reloaded;
      return { kind: 'done', result: { changed, needs_restart: needsRestart, warnings } };
    },
  };
}

function whyNot(kind: RefusalKind, refused: readonly RefusedPrimary[]): string {
  if (refused.length === 0) return `nothing to accept: no primary is refused for its ${kind.replace('_', ' ')}`;
  const names = refused.map(({ member, shown }) => `${member} (${shown})`).join(', ');
  return `more than one member claims to be primary: ${names}; accept works only with one`;
}

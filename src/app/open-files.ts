// The limit on open files: read, and held against the sessions that are configured. Node raises the soft limit to the
// hard one when it starts, so what is read here is all that this process can have.
import { readdirSync, readFileSync } from 'node:fs';
import type { ClientPolicy } from '../model/policy.ts';
import { MIN_SESSIONS, descriptorBudget, type OpenFiles } from '../proxy/accept/descriptor-limit.ts';
import type { DescriptorBudget } from '../proxy/options.ts';
import type { Log } from '../telemetry/log.ts';

/** Undefined where the system does not tell: elsewhere than on Linux. */
export function readOpenFiles(): OpenFiles | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : { limit: Number(soft), inUse: readdirSync('/proc/self/fd').length };
  } catch {
    return undefined;
  }
}

export function readDescriptorBudget(): DescriptorBudget | undefined {
  const files = readOpenFiles();
  return files && descriptorBudget(files);
}

const HOW = 'raise it: LimitNOFILE= in a systemd unit, --ulimit nofile= of a container, ulimit -Hn in a shell';

/** Warns when fewer sessions fit than are configured. Returns why nothing can be served at all; undefined: it can. */
export function tooFewDescriptors(
  descriptors: DescriptorBudget | undefined,
  { maxSessions }: ClientPolicy,
  processes: number,
  log: Log,
): string | undefined {
  if (descriptors === undefined) return undefined;
  const { limit, sessions } = descriptors;
  if (sessions < Math.min(MIN_SESSIONS, maxSessions)) {
    return `the limit on open files (${limit}) is too low for ${MIN_SESSIONS} sessions: ${HOW}`;
  }
  const fits = sessions * processes;
  if (fits < maxSessions) {
    const allowed = `allows ${fits} sessions instead of client.max_sessions (${maxSessions})`;
    const text = `the limit on open files (${limit}) ${allowed}`;
    log.warn({ event: 'open_files_limit', limit, sessions: fits, max_sessions: maxSessions }, `${text}: ${HOW}`);
  }
  return undefined;
}

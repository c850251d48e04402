// From one configuration to the next: which keys changed, and which of them can change while the program runs. Values
// are shown only where they are single; lists may carry addresses and are not.
import { isSameAddress } from '../model/member.ts';
import { assemble } from './assemble.ts';
import type { Config } from './config.ts';
import { formatPath, type Path } from './fault.ts';
import type { CompleteFile } from './schema/defaults.ts';
import { isSecret } from './schema/shape.ts';
import type { Origins, WrittenAt } from './source/origins.ts';
import { isTree } from './source/tree.ts';
import { writtenForm } from './written-form.ts';

export interface Reconfiguration {
  /** The wanted configuration with the running values of keys that need a restart. */
  readonly config: Config;
  /** `probe.interval 1s -> 2s`, `pools.reports added`, `listeners` */
  readonly changed: readonly string[];
  /** Likewise, what is wanted and not in `config`. */
  readonly needsRestart: readonly string[];
}

export function reconfigured(before: Config, after: Config): Reconfiguration {
  const [running, wanted] = [before.file, after.file];
  const file: CompleteFile = {
    ...wanted,
    // All evidence is about one scope: with another one the whole section waits.
    cluster: running.cluster.scope === wanted.cluster.scope ? wanted.cluster : running.cluster,
    listeners: wanted.listeners.map((listener) => asBound(running.listeners, listener)),
    relay: running.relay,
    workers: running.workers,
    admin: { ...wanted.admin, address: running.admin.address, console: running.admin.console },
    incidents: running.incidents,
    log: { ...wanted.log, format: running.log.format },
  };
  return {
    config: assemble(file, originsBetween(before, after)),
    changed: changesBetween(running, file),
    needsRestart: changesBetween(file, wanted),
  };
}

type WrittenListener = CompleteFile['listeners'][number];

/** A bound socket stays shared, or not, and keeps its mode. */
function asBound(running: readonly WrittenListener[], wanted: WrittenListener): WrittenListener {
  const bound = running.find(({ address }) => isSameAddress(address, wanted.address));
  const { reuse_port, unix_socket_mode } = bound ?? wanted;
  return { ...wanted, reuse_port, unix_socket_mode };
}

/** The origins of the values in effect: those of a key that needs a restart stay. */
function originsBetween(before: Config, after: Config): Origins {
  const isKept = (path: string): boolean =>
    ['relay', 'workers', 'admin.address', 'admin.console.address', 'log.format'].includes(path) ||
    path.startsWith('incidents.') ||
    (path.startsWith('cluster.') && before.cluster.scope !== after.cluster.scope);
  const shared = after.file.listeners.flatMap(
    ({ address }, i): readonly (readonly [string, WrittenAt | undefined])[] => {
      const bound = before.file.listeners.findIndex((one) => isSameAddress(one.address, address));
      const keys = bound < 0 ? [] : ['reuse_port', 'unix_socket_mode'];
      return keys.map((key) => [`listeners[${i}].${key}`, before.origins.get(`listeners[${bound}].${key}`)]);
    },
  );
  const kept = new Map(shared);
  return new Map([
    ...[...after.origins].filter(([path]) => !isKept(path) && !kept.has(path)),
    ...[...before.origins].filter(([path]) => isKept(path)),
    ...shared.flatMap(([path, at]) => (at === undefined ? [] : [[path, at] as const])),
  ]);
}

function changesBetween(before: CompleteFile, after: CompleteFile): readonly string[] {
  const [old, now] = [settingsOf(before), settingsOf(after)];
  const isInBoth = (path: string): boolean => {
    const [, pool] = /^pools\.([^.]+)\./.exec(path) ?? [];
    return pool === undefined || (Object.hasOwn(before.pools, pool) && Object.hasOwn(after.pools, pool));
  };
  const paths = [...new Set([...old.keys(), ...now.keys()])].filter(isInBoth);
  const added = Object.keys(after.pools).filter((name) => !Object.hasOwn(before.pools, name));
  const removed = Object.keys(before.pools).filter((name) => !Object.hasOwn(after.pools, name));
  return [
    ...paths.flatMap((path) => changeOf(path, old.get(path), now.get(path))),
    ...added.map((name) => `pools.${name} added`),
    ...removed.map((name) => `pools.${name} removed`),
  ];
}

interface ChangedSetting {
  readonly text: string;
  readonly isShown: boolean;
}

const ABSENT: ChangedSetting = { text: 'none', isShown: true };

function changeOf(path: string, before = ABSENT, after = ABSENT): readonly string[] {
  if (before.text === after.text) return [];
  return [before.isShown && after.isShown ? `${path} ${before.text} -> ${after.text}` : path];
}

/** Every single value, and every list as one, by its path in the file. */
function settingsOf(file: CompleteFile): ReadonlyMap<string, ChangedSetting> {
  return new Map(leavesOf([], writtenForm(file)));
}

function leavesOf(path: Path, value: unknown): readonly (readonly [string, ChangedSetting])[] {
  if (isTree(value)) return Object.entries(value).flatMap(([key, child]) => leavesOf([...path, key], child));
  const name = formatPath(path);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return [[name, { text, isShown: !Array.isArray(value) && !isSecret(path) }]];
}

// From one configuration to the next: what changed, in the words of the file, and what of it can change while the program runs.
// Values are told only where they are single; addresses in lists and whatever they may carry are not.
import { isSameAddress } from '../model/member.ts';
import type { ListenerPolicy } from '../model/policy.ts';
import type { Config } from './config.ts';
import { formatDuration } from './schema/duration.ts';

export interface Reconfiguration {
  /** The wanted configuration with what needs a restart left as it is. */
  readonly config: Config;
  /** `probe.interval 1s -> 2s`, `pools.reports added`, `listeners` */
  readonly changed: readonly string[];
  /** Likewise, what is wanted and not in `config`. */
  readonly needsRestart: readonly string[];
}

/** The scope is what all evidence is about: with another one the whole section waits, or the members would not fit it. */
export function reconfigured(running: Config, wanted: Config): Reconfiguration {
  const config: Config = Object.freeze({
    ...wanted,
    cluster: running.cluster.scope === wanted.cluster.scope ? wanted.cluster : running.cluster,
    relay: running.relay,
    listeners: Object.freeze(wanted.listeners.map((listener) => boundAs(running.listeners, listener))),
    admin: Object.freeze({ ...wanted.admin, address: running.admin.address }),
    log: Object.freeze({ ...wanted.log, format: running.log.format }),
    workers: running.workers,
  });
  return { config, changed: changesBetween(running, config), needsRestart: changesBetween(config, wanted) };
}

/** What is bound already stays shared, or not. */
function boundAs(running: readonly ListenerPolicy[], wanted: ListenerPolicy): ListenerPolicy {
  const { reusePort } = running.find(({ address }) => isSameAddress(address, wanted.address)) ?? wanted;
  return reusePort === wanted.reusePort ? wanted : Object.freeze({ ...wanted, reusePort });
}

function changesBetween(before: Config, after: Config): readonly string[] {
  const [old, now] = [settingsOf(before), settingsOf(after)];
  const [oldPools, nowPools] = [poolNames(before), poolNames(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])].filter((path) => {
    const pool = /^pools\.([^.]+)\./.exec(path)?.[1];
    return pool === undefined || (oldPools.includes(pool) && nowPools.includes(pool));
  });
  return [
    ...paths.flatMap((path) => changeOf(path, old.get(path), now.get(path))),
    ...nowPools.filter((name) => !oldPools.includes(name)).map((name) => `pools.${name} added`),
    ...oldPools.filter((name) => !nowPools.includes(name)).map((name) => `pools.${name} removed`),
  ];
}

const SECRET = 'admin.token';

interface Setting {
  readonly text: string;
  readonly isTold: boolean;
}

const ABSENT: Setting = { text: 'none', isTold: true };

function changeOf(path: string, before = ABSENT, after = ABSENT): readonly string[] {
  if (before.text === after.text) return [];
  return [before.isTold && after.isTold ? `${path} ${before.text} -> ${after.text}` : path];
}

function poolNames(config: Config): readonly string[] {
  return config.pools.map(({ name }) => name);
}

/** Every single value, and every list as one, by its path in the file. */
function settingsOf({ pools, ...rest }: Config): ReadonlyMap<string, Setting> {
  const byName = Object.fromEntries(
    pools.map(({ name, check, ...pool }) => [name, { check: check.text, ...pool }] as const),
  );
  return new Map([...leavesOf([], rest), ...leavesOf(['pools'], byName)]);
}

function leavesOf(path: readonly string[], value: unknown): readonly (readonly [string, Setting])[] {
  if (isAddress(value)) return [[path.join('.'), { text: `${value.host}:${value.port}`, isTold: true }]];
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([key, child]) => {
      // Pools have names of their own.
      const isName = path.length === 1 && path[0] === 'pools';
      const isDuration = typeof child === 'number' && key.endsWith('Ms');
      return leavesOf([...path, isName ? key : nameInFile(key)], isDuration ? formatDuration(child) : child);
    });
  }
  if (value === undefined) return [];
  const isTold = !Array.isArray(value) && path.join('.') !== SECRET;
  return [[path.join('.'), { text: typeof value === 'string' ? value : JSON.stringify(value), isTold }]];
}

function isAddress(value: unknown): value is { readonly host: string; readonly port: number } {
  return typeof value === 'object' && value !== null && 'host' in value && 'port' in value;
}

/** `silenceGraceMs` is `silence_grace`. */
function nameInFile(key: string): string {
  return key.replace(/Ms$/, '').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

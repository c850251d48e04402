// The configuration in effect, key by key: the value, and where it comes from. Plain data for JSON, without secrets.
import type { Config } from '../config.ts';
import { formatPath, type Path } from '../fault.ts';
import { NO_SEED } from '../load.ts';
import { complete, DEFAULT_POOLS, derivedFrom, withDefaults, type CompleteFile } from '../schema/defaults.ts';
import { parse } from '../schema/parse.ts';
import { isSecret, needsRestart } from '../schema/shape.ts';
import { leavesOf, type WrittenAt } from '../source/origins.ts';
import { childOf, setAt, valueAt, type Tree } from '../source/tree.ts';
import { effectiveFile, writtenForm } from '../written-form.ts';

export type SettingOrigin =
  | WrittenAt
  | { readonly kind: 'default' }
  /** The default depends on the value of the key `from`. */
  | { readonly kind: 'derived'; readonly from: string };

export interface Setting {
  /** `probe.interval`, `listeners[0].address` */
  readonly key: string;
  /** As it is written in the file. Null for a secret. */
  readonly value: unknown;
  /** Present for a secret that is set. */
  readonly redacted?: true;
  readonly origin: SettingOrigin;
  /** True when the value differs from the default. */
  readonly changed: boolean;
}

export interface ConfigDocument {
  readonly api_version: 1;
  /** Every key that has a value, in the order of the file. */
  readonly settings: readonly Setting[];
  /** The same as a file that loads, without secrets. */
  readonly configuration: Tree;
}

/**
 * The document of `pointsman config print --json` and of GET /config. `onlyChanged`: without the values that equal
 * their default.
 */
export function configDocument({ file, origins }: Config, onlyChanged = false): ConfigDocument {
  const usual = usualValues(file);
  const effective = effectiveFile(file);
  const all = writtenForm(file);
  const shown = new Set(leavesOf([], effective).map((path) => formatPath(path)));
  const settings = leavesOf([], all)
    .map((path) => ({ path, key: formatPath(path) }))
    .filter(({ path, key }) => shown.has(key) || isSecret(path))
    .map(({ path, key }): Setting => {
      const value = valueAt(all, path);
      const origin = origins.get(key) ?? defaultOrigin(path);
      const changed = origin.kind !== 'derived' && usual(key) !== JSON.stringify(value);
      return isSecret(path) ? { key, value: null, redacted: true, origin, changed } : { key, value, origin, changed };
    });
  if (!onlyChanged) return { api_version: 1, settings, configuration: effective };
  const changed = settings.filter((one) => one.changed);
  const keys = new Set(changed.map(({ key }) => key));
  return { api_version: 1, settings: changed, configuration: part(effective, (key) => keys.has(key)) };
}

/** One value as text. */
export interface ListedSetting {
  readonly key: string;
  readonly value: string;
  /** Null: it has none, or depends on other keys. */
  readonly default: string | null;
  /** A reload changes it. */
  readonly changeable: boolean;
}

/** The same settings as a list of texts, without secrets. */
export function listedSettings(config: Config): readonly ListedSetting[] {
  const usual = usualValues(config.file);
  const paths = new Map(leavesOf([], writtenForm(config.file)).map((path) => [formatPath(path), path]));
  return configDocument(config).settings.map(({ key, value, redacted, origin }) => {
    const standard = origin.kind === 'derived' ? undefined : usual(key);
    return {
      key,
      value: redacted === true ? '(not shown)' : settingText(value),
      default: standard === undefined ? null : settingText(JSON.parse(standard)),
      changeable: !needsRestart(paths.get(key) ?? []),
    };
  });
}

function settingText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function part(whole: Tree, isShown: (key: string) => boolean): Tree {
  const tree: Tree = {};
  for (const path of leavesOf([], whole)) {
    if (isShown(formatPath(path))) setAt(tree, path, valueAt(whole, path));
  }
  return tree;
}

function defaultOrigin(path: Path): SettingOrigin {
  // withApiServer reads it.
  if (formatPath(path) === 'cluster.kubernetes.server') {
    return { kind: 'environment', variable: 'KUBERNETES_SERVICE_HOST' };
  }
  const from = derivedFrom(path);
  return from === undefined ? { kind: 'default' } : { kind: 'derived', from };
}

/**
 * The default of each key as JSON; undefined where a key has none. The defaults of a listed item count only for the
 * whole default list.
 */
function usualValues(file: CompleteFile): (key: string) => string | undefined {
  const pools = Object.entries(file.pools).map(([name, { check }]) => [name, { check: check.text }] as const);
  const own = pools.filter(([name]) => !DEFAULT_POOLS.includes(name));
  const { parsed } = parse(withDefaults({ cluster: { seeds: [NO_SEED] }, pools: Object.fromEntries(own) }));
  if (parsed === undefined) throw new Error('the defaults are not valid');
  const tree = writtenForm(complete(parsed));
  const values = new Map(leavesOf([], tree).map((path) => [formatPath(path), JSON.stringify(valueAt(tree, path))]));
  for (const [name] of own) values.delete(`pools.${name}.check`);
  values.delete('cluster.seeds');
  const isUsualList =
    JSON.stringify(childOf(writtenForm(file), 'listeners')) === JSON.stringify(childOf(tree, 'listeners'));
  return (key) => {
    if (/^listeners\[\d+\]\.reuse_port$/.test(key)) return 'false';
    return key.startsWith('listeners[') && !isUsualList ? undefined : values.get(key);
  };
}

// A draft as the smallest file: the keys that differ from their defaults, each with the place that it comes from.
import type { Config } from '../../config/config.ts';
import { formatPath, formatProblems, type Path } from '../../config/fault.ts';
import { loadConfig, type LoadResult } from '../../config/load.ts';
import { commentedYaml } from '../../config/reference/commented-yaml.ts';
import { configDocument } from '../../config/reference/settings.ts';
import { leavesOf } from '../../config/source/origins.ts';
import { setAt, valueAt, type Tree } from '../../config/source/tree.ts';
import type { DraftSetting } from './draft.ts';

export type DraftText =
  | {
      readonly kind: 'written';
      readonly text: string;
      /** Undefined when a file that it names cannot be read on this host. */
      readonly config: Config | undefined;
      readonly problems: readonly string[];
    }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

/** The order in the file. */
const ORDER = [
  'cluster.scope',
  'cluster.seeds',
  'cluster.allow',
  'cluster.',
  'pools.',
  'listeners',
  'client.',
  'backend.',
];

/** `heading`: the first comment, with #. A later setting of the same path replaces an earlier one. */
export function writeDraft(settings: readonly DraftSetting[], heading: string): DraftText {
  const whole = treeOf(settings);
  const loaded = load(whole);
  const usable = loaded.kind === 'ok' ? loaded : load(treeOf(settings.filter((one) => !isOfTls(one))));
  if (loaded.kind === 'invalid' && usable.kind === 'invalid') {
    return { kind: 'invalid', problems: formatted(loaded.problems) };
  }
  const changed = new Set(
    usable.kind === 'ok' ? configDocument(usable.config, true).settings.map(({ key }) => key) : [],
  );
  const ofTls = new Set(settings.filter(isOfTls).map(({ path }) => formatPath(path)));
  const kept = leavesOf([], whole).filter((path) => changed.has(formatPath(path)) || ofTls.has(formatPath(path)));
  const tree: Tree = {};
  for (const path of kept.toSorted((a, b) => rank(a) - rank(b))) setAt(tree, path, valueAt(whole, path));
  const beside = new Map(
    settings.flatMap(({ path, from }) => (from === undefined ? [] : [[formatPath(path), from] as const])),
  );
  const end = tree['listeners'] === undefined ? USUAL_LISTENERS : '';
  return {
    kind: 'written',
    text: `${heading}${commentedYaml(tree, { beside })}${end}`,
    config: loaded.kind === 'ok' ? loaded.config : undefined,
    problems: loaded.kind === 'ok' ? [] : formatted(loaded.problems),
  };
}

const USUAL_LISTENERS = '# Writes: 127.0.0.1:6432, reads: 127.0.0.1:6433. For other addresses add listeners.\n';

function treeOf(settings: readonly DraftSetting[]): Tree {
  const tree: Tree = {};
  for (const { path, value } of settings) setAt(tree, path, structuredClone(value));
  return tree;
}

/** JSON is YAML. The environment of this process is not that of the proxy. */
function load(tree: Tree): LoadResult {
  return loadConfig({ file: 'draft', env: {}, readFile: () => JSON.stringify(tree) });
}

/** The only keys that name files. */
function isOfTls({ path: [section, api, tls] }: DraftSetting): boolean {
  return section === 'cluster' && api === 'api' && tls === 'tls';
}

function rank(path: Path): number {
  return ORDER.findIndex((start) => formatPath(path).startsWith(start));
}

/** Without the place in the intermediate file. */
function formatted(problems: Parameters<typeof formatProblems>[0]): readonly string[] {
  return problems.map((one) =>
    formatProblems([{ ...one, origin: { kind: 'nowhere' } }]).replace(/^configuration: /, ''),
  );
}

// POINTSMAN_<PATH_IN_CAPITALS> overrides any single value, and any list of single values as a list with commas. The
// names come from the schema, so a misspelt variable is an error. An empty value counts as unset: compose files and
// charts write it so.
import { formatPath, type Path, type Problem } from '../fault.ts';
import { closest } from '../closest.ts';
import { alternatives, fileShape, type Shape } from '../schema/shape.ts';
import { childOf, isTree, setAt, type Tree } from './tree.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = 'POINTSMAN_';
/** The command line reads it; it is no key of the file. */
const RESERVED = ['POINTSMAN_CONFIG'];

export interface OverlaidTree {
  readonly tree: Tree;
  /** The variable that gave the value at a path (as formatPath writes it). */
  readonly variables: ReadonlyMap<string, string>;
  readonly problems: readonly Problem[];
}

interface Leaf {
  readonly variable: string;
  readonly path: Path;
  readonly shape: Shape;
}

/** The file (with the default pools and listeners) with the values of the environment. Changes neither argument. */
export function applyEnvironment(written: Tree, env: Environment): OverlaidTree {
  const names = Object.keys(env).filter(
    (name) => name.startsWith(PREFIX) && env[name] !== '' && !RESERVED.includes(name),
  );
  const all = names.length === 0 ? [] : leavesOf(fileShape, written, [], names);
  const leaves = new Map(all.map((leaf) => [leaf.variable, leaf]));
  const tree = structuredClone(written);
  const variables = new Map<string, string>();
  const problems: Problem[] = [];
  for (const name of names) {
    const text = env[name];
    const leaf = leaves.get(name);
    if (text === undefined) continue;
    if (leaf !== undefined) {
      setAt(tree, leaf.path, readText(text, leaf.shape));
      variables.set(formatPath(leaf.path), name);
    } else if (!isServiceLink(name, text)) {
      const message = `unknown variable${hintFor(name, [...leaves.keys()], written['pools'])}`;
      problems.push({ origin: { kind: 'environment', variable: name }, path: '', message });
    }
  }
  return { tree, variables, problems };
}

/** Fills in the API server of a pod, `cluster.kubernetes.server`, where that section is written without it. */
export function withApiServer(tree: Tree, env: Environment): Tree {
  const { cluster } = tree;
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (!isTree(cluster) || !isTree(cluster['kubernetes']) || host === undefined || host === '') return tree;
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { ...tree, cluster: { ...cluster, kubernetes: { server, ...cluster['kubernetes'] } } };
}

function hintFor(name: string, variables: readonly string[], pools: unknown): string {
  const names = isTree(pools) ? Object.keys(pools) : [];
  const pool = unknownPool(name, names);
  if (pool !== undefined) {
    const known = names.join(', ');
    return `: there is no pool ${pool} (known: ${known}), and the environment cannot add one: write it in the file`;
  }
  const near = variables.find((leaf) => leaf.startsWith(`${name}_`)) ?? closest(name, [...variables, ...RESERVED]);
  return near === undefined ? '' : `: did you mean ${near}?`;
}

/** `reports` in POINTSMAN_POOLS_REPORTS_CHECK, unless that is near the name of a pool. */
function unknownPool(name: string, pools: readonly string[]): string | undefined {
  const shape = fileShape.properties.get('pools')?.values;
  const keys = shape === undefined ? [] : leavesOf(shape, undefined, [], []).map(({ path }) => variableOf(path));
  const key = keys.find((one) => name.endsWith(one.slice(PREFIX.length - 1)));
  const start = `${variableOf(['pools'])}_`;
  if (key === undefined || !name.startsWith(start)) return undefined;
  const pool = name.slice(start.length, name.length - key.length + PREFIX.length - 1).toLowerCase();
  return pool === '' || closest(pool, pools) !== undefined ? undefined : pool;
}

function variableOf(path: Path): string {
  return `${PREFIX}${path.map((part) => String(part).toUpperCase().replaceAll(/\W|-/g, '_')).join('_')}`;
}

function leavesOf(shape: Shape, value: unknown, path: Path, names: readonly string[]): readonly Leaf[] {
  return alternatives(shape).flatMap((one) => {
    if (one.kind === 'map') return leavesOfMap(one, value, path, names);
    if (one.kind === 'list' && one.items?.kind === 'map') return leavesOfList(one.items, value, path, names);
    return [{ variable: variableOf(path), path, shape: one }];
  });
}

function leavesOfMap(shape: Shape, value: unknown, path: Path, names: readonly string[]): readonly Leaf[] {
  const { properties, values } = shape;
  const others = values !== undefined && isTree(value) ? Object.keys(value).map((key) => [key, values] as const) : [];
  return [...properties, ...others].flatMap(([key, child]) =>
    leavesOf(child, childOf(value, key), [...path, key], names),
  );
}

/** Items by number: those of the file, and those that the environment adds behind them. */
function leavesOfList(item: Shape, value: unknown, path: Path, names: readonly string[]): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const isGiven = (i: number): boolean =>
    childOf(value, i) !== undefined || names.some((name) => name.startsWith(`${variableOf([...path, i])}_`));
  for (let i = 0; isGiven(i); i++) leaves.push(...leavesOf(item, childOf(value, i), [...path, i], names));
  return leaves;
}

/** A text that cannot be converted stays text: the schema reports it. */
function readText(text: string, shape: Shape): unknown {
  const { items } = shape;
  switch (shape.kind) {
    case 'list':
      return text.split(',').flatMap((part) => {
        const item = part.trim();
        return item === '' ? [] : [items === undefined ? item : readText(item, items)];
      });
    case 'flag':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'number':
      return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
    case 'text':
    case 'map':
      return text;
  }
}

/**
 * Kubernetes describes every Service of the namespace in the environment of each pod. For a Service named `pointsman`
 * these names have our prefix:
 * https://kubernetes.io/docs/tutorials/services/connect-applications-service/#environment-variables
 */
function isServiceLink(name: string, text: string): boolean {
  return (
    /_SERVICE_(?:HOST|PORT(?:_\w+)?)$/.test(name) ||
    /_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?$/.test(name) ||
    (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(text))
  );
}

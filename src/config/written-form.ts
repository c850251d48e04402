// A parsed value back in the form in which an operator writes it: `5s`, `127.0.0.1:6432`, `/replica?lag=16MB`.
import { addressText } from '../model/member.ts';
import type { Path } from './fault.ts';
import { formatDuration } from './schema/duration.ts';
import { alternatives, childShape, fileShape, isSecret, type Shape } from './schema/shape.ts';
import { SHARED_ONLY, type CompleteFile, type CompletePool } from './schema/defaults.ts';
import { FILE_MODE, writtenSize } from './schema/values.ts';
import { childOf, isTree, type Tree } from './source/tree.ts';

/** Every key that has a value, by its name in the file. */
export function writtenForm(file: CompleteFile): Tree {
  return treeOf(written(file, fileShape));
}

/** The same as a file that loads: without secrets, and without keys that the rules reject where they do nothing. */
export function effectiveFile(file: CompleteFile): Tree {
  const pools = Object.entries(file.pools).map(([name, pool]) => [name, effectivePool(pool)] as const);
  return treeOf(withoutSecrets(written({ ...file, pools: Object.fromEntries(pools) }, fileShape), []));
}

function withoutSecrets(value: unknown, path: Path): unknown {
  if (!isTree(value)) return value;
  const entries = Object.entries(value).filter(([key]) => !isSecret([...path, key]));
  return Object.fromEntries(entries.map(([key, child]) => [key, withoutSecrets(child, [...path, key])]));
}

function effectivePool(pool: CompletePool): Tree {
  const { when_all_lagging: whenAllLagging, fallback, check } = pool;
  const hasLimit = check.lagBytes !== undefined || pool.max_staleness !== 'off';
  const canLag = hasLimit && (whenAllLagging !== 'fallback' || fallback !== 'none');
  const idle: readonly string[] = [
    ...(pool.exclusive ? SHARED_ONLY : []),
    ...(canLag ? [] : ['when_all_lagging']),
    ...(whenAllLagging === 'least_lagging' ? [] : ['max_lagging_sessions']),
  ];
  return Object.fromEntries(Object.entries(pool).filter(([key]) => !idle.includes(key)));
}

function treeOf(value: unknown): Tree {
  return isTree(value) ? value : {};
}

function written(value: unknown, shape: Shape): unknown {
  if (Array.isArray(value)) return value.map((item: unknown, i) => written(item, childShape(shape, i) ?? shape));
  if (typeof value === 'number') return numberOf(value, shape);
  if (!isTree(value)) return value;
  const map = alternatives(shape).find((one) => one.kind === 'map');
  if (map === undefined) return textOf(value);
  const entries = Object.entries(value).flatMap(([key, child]) => {
    const childOfMap = childShape(map, key);
    return child === undefined || childOfMap === undefined ? [] : [[key, written(child, childOfMap)] as const];
  });
  return Object.fromEntries(entries);
}

function numberOf(value: number, { schema }: Shape): unknown {
  if (schema.written === 'size') return writtenSize(value);
  if (schema.written === FILE_MODE) return `0${value.toString(8)}`;
  return value > 0 && schema.written?.startsWith('duration') === true ? formatDuration(value) : value;
}

/** The text of a check, an API or a seed, or an address. */
function textOf(value: Tree): unknown {
  const [host, port] = [childOf(value, 'host'), childOf(value, 'port')];
  if (typeof host === 'string' && typeof port === 'number') return addressText({ host, port });
  return childOf(value, 'text') ?? childOf(value, 'url');
}

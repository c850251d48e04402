// Long names of one list, each as short as it fits. The parts that all have in common go first. Pure.
import { shortened } from './words.ts';

/** `orders-…eu-1a-01…` for one of many that begin with `orders-db-` and end with `.svc`. `most`: characters. */
export function shortNames(names: readonly string[], most: number): (name: string) => string {
  const long = names.filter((name) => name.length > most);
  const [prefix, suffix] = long.length < 2 ? ['', ''] : commonOf(long);
  return (name) => {
    if (name.length <= most) return name;
    const own = name.slice(prefix.length, name.length - suffix.length);
    const end = suffix === '' ? '' : '…';
    const room = most - own.length - end.length;
    if (prefix.length <= room) return `${prefix}${own}${end}`;
    return room < 1 ? shortened(own, most) : `${prefix.slice(0, room - 1)}…${own}${end}`;
  };
}

/** Whole words of names: orders-db-, .svc */
function commonOf(names: readonly string[]): readonly [prefix: string, suffix: string] {
  const [first = '', ...others] = names;
  const shortest = Math.min(...names.map(({ length }) => length));
  const length = (isSame: (one: string, index: number) => boolean, most: number): number => {
    let index = 0;
    while (index < most && others.every((one) => isSame(one, index))) index += 1;
    return index;
  };
  const before = length((one, index) => one[index] === first[index], shortest);
  const prefix = first.slice(0, before).replace(/[^-._/]+$/, '');
  const after = length((one, index) => one.at(-1 - index) === first.at(-1 - index), shortest - prefix.length);
  const suffix = first.slice(first.length - after).replace(/^[^-._/]+/, '');
  return [prefix, suffix];
}

// Rules for branches: the keys that belong to the source, and the files that are named.
import { BRANCHES_POOL, BRANCH_SOURCES } from '../../model/branch.ts';
import { error, warning, type Fault, type Path } from '../fault.ts';
import type { ParsedBranches } from '../schema/branches-section.ts';
import { formatDuration as time } from '../schema/duration.ts';
import type { ParsedFile } from '../schema/file-schema.ts';
import { plainKey, unreadableSecret } from './secret-file-rules.ts';
import { unusableAuthorities } from './tls-rules.ts';

const AT: Path = ['branches'];
const SOURCE: Path = [...AT, 'source'];
const BACKENDS: Path = [...AT, 'backends'];

export function branchesRules({ branches, pools }: ParsedFile): readonly Fault[] {
  if (branches === undefined) return [];
  const reserved: Path = ['pools', BRANCHES_POOL];
  return [
    ...(Object.hasOwn(pools, BRANCHES_POOL)
      ? [error('sessions of branches are counted under this name: give the pool another one', reserved, AT)]
      : []),
    ...sourceRules(branches),
    ...backendRules(branches),
    ...tlsRules(branches),
    ...connectRules(branches),
    ...secretRules(branches),
  ];
}

function sourceRules(branches: ParsedBranches): readonly Fault[] {
  const { source, static: listed } = branches;
  const faults: Fault[] = [];
  if (branches[source] === undefined) {
    faults.push(error(`source is ${source}: give branches.${source}`, [...AT, source], SOURCE));
  } else if (source === 'static' && Object.keys(listed ?? {}).length === 0) {
    faults.push(error('is empty: name at least one branch, such as pr-1: 10.0.0.9:55432', [...AT, 'static']));
  }
  const others = BRANCH_SOURCES.filter((other) => other !== source && branches[other] !== undefined);
  return [...faults, ...others.map((other) => warning(`has no effect: source is ${source}`, [...AT, other], SOURCE))];
}

function backendRules({ source, backends }: ParsedBranches): readonly Fault[] {
  const { template, read_template: readTemplate } = backends;
  const given = (['overrides', 'read_overrides'] as const).filter((key) => Object.keys(backends[key]).length > 0);
  if (source === 'static') {
    const unused = [
      ...(template === undefined ? [] : ['template']),
      ...(readTemplate === undefined ? [] : ['read_template']),
      ...given,
    ];
    return unused.map((key) => warning('has no effect: branches.static has the addresses', [...BACKENDS, key], SOURCE));
  }
  const faults: Fault[] = [];
  if (template === undefined && given.length === 0) {
    const text = "no branch would have an address: give template, such as '{id}.branches.svc:5432', or overrides";
    faults.push(error(text, BACKENDS, SOURCE));
  }
  if (readTemplate !== undefined && source === 'storage') {
    const text = 'has no effect: a storage node does not report read endpoints';
    faults.push(warning(text, [...BACKENDS, 'read_template'], SOURCE));
  }
  return faults;
}

function tlsRules({ backends }: ParsedBranches): readonly Fault[] {
  const { tls, ca_file: authority } = backends;
  const [at, file]: readonly [Path, Path] = [
    [...BACKENDS, 'tls'],
    [...BACKENDS, 'ca_file'],
  ];
  if (tls === 'off') {
    return authority === undefined ? [] : [error('is for tls: require: give that too, or leave it out', file, at)];
  }
  return unusableAuthorities(file, authority);
}

function connectRules({ connect }: ParsedBranches): readonly Fault[] {
  const { attempt_timeout: attempt, budget } = connect;
  if (attempt <= budget) return [];
  const text = `${time(attempt)} is longer than budget (${time(budget)}): no connect could take that long`;
  return [error(text, [...AT, 'connect', 'attempt_timeout'], [...AT, 'connect', 'budget'])];
}

function secretRules({ source, console, storage }: ParsedBranches): readonly Fault[] {
  const effect = 'the list of branches cannot be read';
  if (source === 'storage') return unreadableSecret([...AT, 'storage', 'headers_file'], storage?.headers_file, effect);
  if (source === 'static' || console === undefined) return [];
  return [
    ...unreadableSecret([...AT, 'console', 'api_key_file'], console.api_key_file, effect),
    ...plainKey([...AT, 'console', 'url'], console.url),
  ];
}

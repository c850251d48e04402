// Runs `pointsman branches …` on a source in memory, with a terminal that answers questions.
import { runCli } from '../../../src/cli/program.ts';
import type { BranchControl, BranchReading } from '../../../src/branching/control-branches.ts';
import type { BranchWish, CreationResult, RemovalResult } from '../../../src/branching/branch-wish.ts';
import type { Branch, BranchSourcePolicy } from '../../../src/model/branch.ts';
import { cliParts } from './cli-parts.ts';

export interface BranchesTerminal {
  /** Typed by the operator, question by question. Absent: no terminal. */
  readonly answers?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string | undefined>>;
  readonly columns?: number;
}

export interface BranchesRan {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly asked: readonly string[];
  /** The sources that were opened. */
  readonly opened: readonly BranchSourcePolicy[];
}

/** It keeps each request, and answers as the test says. */
export class FakeSource implements BranchControl {
  branches: Branch[];
  readonly wishes: BranchWish[] = [];
  readonly removed: Branch[] = [];
  onList: (() => BranchReading) | undefined;
  onCreate: ((request: BranchWish) => CreationResult) | undefined;
  onRemove: (() => RemovalResult) | undefined;

  constructor(branches: readonly Branch[]) {
    this.branches = [...branches];
  }

  readonly list = (): Promise<BranchReading> =>
    Promise.resolve(this.onList?.() ?? { kind: 'read', branches: this.branches });

  readonly create = (request: BranchWish): Promise<CreationResult> => {
    this.wishes.push(request);
    const branch = aBranch(request.name, { parentId: request.parent?.id ?? 'main-id' });
    return Promise.resolve(this.onCreate?.(request) ?? { kind: 'created', branch, isNew: true });
  };

  readonly remove = (branch: Branch): Promise<RemovalResult> => {
    this.removed.push(branch);
    return Promise.resolve(this.onRemove?.() ?? { kind: 'removed' });
  };
}

export function aBranch(name: string, own: Partial<Branch> = {}): Branch {
  return {
    id: `${name}-id`,
    name,
    parentId: 'main-id',
    parentLsn: '0/3000000',
    lastRecordLsn: '0/3000000',
    hasReadEndpoint: undefined,
    ...own,
  };
}

export const MAIN = aBranch('main', { parentId: undefined, parentLsn: undefined, lastRecordLsn: '0/4000000' });

/** The options of branchesCli for each source. */
export const STORAGE = {
  POINTSMAN_BRANCHES_SOURCE: 'storage',
  POINTSMAN_BRANCHES_STORAGE_URL: 'http://pageserver:9898',
  POINTSMAN_BRANCHES_STORAGE_TENANT: 'tenant-1',
  POINTSMAN_BRANCHES_STORAGE_NAMES_FILE: '/var/lib/pointsman/branches.json',
  POINTSMAN_BRANCHES_STORAGE_PG_VERSION: '17',
  POINTSMAN_BRANCHES_BACKENDS_TEMPLATE: '{slug}.branches.svc:5432',
};

export const CONSOLE = {
  POINTSMAN_BRANCHES_SOURCE: 'console',
  POINTSMAN_BRANCHES_CONSOLE_URL: 'https://console.internal',
  POINTSMAN_BRANCHES_CONSOLE_PROJECT: 'calm-sea-1234',
  POINTSMAN_BRANCHES_CONSOLE_API_KEY_FILE: '/run/secrets/console',
  POINTSMAN_BRANCHES_BACKENDS_TEMPLATE: '{slug}.branches.svc:5432',
  POINTSMAN_BRANCHES_BACKENDS_READ_TEMPLATE: '{slug}-ro.branches.svc:5432',
};

export const STATIC = { POINTSMAN_CONFIG: 'static.yaml' };

const FILES = {
  'static.yaml':
    'cluster: { seeds: [http://pg1:8008] }\n' +
    'branches: { source: static, static: { pr-1: 10.0.0.9:55432, pr-2: 10.0.0.9:55433 } }\n',
};

/** No Pointsman runs at this address, unless `env` names another one. */
const NOBODY = { POINTSMAN_ADMIN_ADDRESS: '127.0.0.1:1' };

/** `env`: the storage node of these tests, if absent. */
export async function branchesCli(
  argv: readonly string[],
  source: FakeSource,
  { answers, env = STORAGE, files = {}, columns }: BranchesTerminal = {},
): Promise<BranchesRan> {
  let [out, err] = ['', ''];
  const asked: string[] = [];
  const opened: BranchSourcePolicy[] = [];
  const left = [...(answers ?? [])];
  const io = {
    env: { ...NOBODY, ...env },
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
    readFile: (file: string) => {
      const text = { ...FILES, ...files }[file];
      if (text === undefined) throw Object.assign(new Error(file), { code: 'ENOENT' });
      return text;
    },
    ...(answers && {
      readLine: (question: string) => {
        asked.push(question);
        return Promise.resolve(left.shift());
      },
    }),
    ...(columns !== undefined && { screen: { size: () => ({ columns, rows: 24 }) } }),
  };
  const parts = cliParts({
    branches: {
      openSource: (policy) => {
        opened.push(policy);
        return Promise.resolve(source);
      },
    },
  });
  const code = await runCli(['branches', ...argv], io, parts);
  return { code, out, err, asked, opened };
}

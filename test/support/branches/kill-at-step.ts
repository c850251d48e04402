// Loaded by `--import` before a program: kills it, as kill -9 does, at one step of its work on the names file. A step
// is the moment before or after an operation on that file, its folder or its lock.
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { dirname } from 'node:path';
import { writeFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type * as Promises from 'node:fs/promises';
import type * as Sqlite from 'node:sqlite';

const require = createRequire(import.meta.url);
const namesFile = process.env['KILL_FILE'] ?? '';
const killAt = Number(process.env['KILL_AT'] ?? 0);
const report = process.env['KILL_REPORT'];
const steps: string[] = [];

function step(name: string): void {
  steps.push(name);
  if (steps.length === killAt) process.kill(process.pid, 'SIGKILL');
}

function isMethod(value: unknown): value is (...args: never[]) => unknown {
  return typeof value === 'function';
}

/** Each call that `counts` becomes two steps. */
function watch<T extends object>(
  owner: T,
  name: keyof T & string,
  counts: (args: readonly unknown[]) => boolean,
): void {
  const original: unknown = owner[name];
  if (!isMethod(original)) throw new Error(`there is no ${name}`);
  const wrapped = function (this: unknown, ...args: never[]): unknown {
    if (!counts(args)) return Reflect.apply(original, this, args);
    step(`before ${name}`);
    const result: unknown = Reflect.apply(original, this, args);
    if (!(result instanceof Promise)) {
      step(`after ${name}`);
      return result;
    }
    return result.then((value: unknown) => {
      step(`after ${name}`);
      return value;
    });
  };
  Object.defineProperty(owner, name, { value: wrapped, writable: true, configurable: true });
}

const files: typeof Promises = require('node:fs/promises');
const isOurs = (path: unknown): boolean =>
  typeof path === 'string' && (path.startsWith(namesFile) || path === dirname(namesFile));
const handles = new WeakSet<object>();

const open = files.open.bind(files);
files.open = async (path, ...rest) => {
  if (!isOurs(path)) return open(path, ...rest);
  step('before open');
  const handle = await open(path, ...rest);
  handles.add(handle);
  step('after open');
  return handle;
};
const probe = await open(import.meta.filename);
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the class of handles has no name
const prototype = Object.getPrototypeOf(probe) as FileHandle;
await probe.close();
for (const name of ['writeFile', 'chmod', 'sync'] as const) watchHandle(name);
for (const name of ['readFile', 'rename'] as const) watch(files, name, ([path]) => isOurs(path));
syncBuiltinESMExports();

function watchHandle(name: 'writeFile' | 'chmod' | 'sync'): void {
  const original: unknown = prototype[name];
  if (!isMethod(original)) throw new Error(`there is no ${name}`);
  const wrapped = async function (this: FileHandle, ...args: never[]): Promise<unknown> {
    const isWatched = handles.has(this);
    if (isWatched) step(`before ${name}`);
    const result: unknown = await Reflect.apply(original, this, args);
    if (isWatched) step(`after ${name}`);
    return result;
  };
  Object.defineProperty(prototype, name, { value: wrapped, writable: true, configurable: true });
}

const { DatabaseSync }: typeof Sqlite = require('node:sqlite');
watch(DatabaseSync.prototype, 'exec', () => true);

if (report !== undefined) process.once('exit', () => writeFileSync(report, JSON.stringify(steps)));

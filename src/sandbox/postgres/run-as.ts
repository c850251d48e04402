// The user that PostgreSQL's programs run as. They refuse to run as root, so root runs them as `nobody`, in a directory
// that belongs to that user.
import { execFile } from 'node:child_process';
import { lchown, lstat, readFile } from 'node:fs/promises';
import { getuid } from 'node:process';

export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export interface RunAs {
  /** Undefined: our own user. */
  readonly user: ServerUser | undefined;
  /**
   * Working directory and home. The user can enter it, which may not hold for the directory that we were started in.
   */
  readonly directory: string;
}

export interface RunOutcome {
  /**
   * The exit code. A text is the code of the error that prevented the start (ENOENT, EACCES), or the signal that ended
   * the program.
   */
  readonly code: number | string;
  readonly output: string;
}

const UNPRIVILEGED = 'nobody';

/** Rejects when we are root and there is no other user. */
export async function findServerUser(ourUid = getuid?.()): Promise<ServerUser | undefined> {
  if (ourUid !== 0) return undefined;
  const user = parsePasswd(await readFile('/etc/passwd', 'utf8').catch(() => ''), UNPRIVILEGED);
  if (user !== undefined) return user;
  throw new Error(
    `PostgreSQL refuses to run as root, and /etc/passwd has no user ${UNPRIVILEGED}; ` +
      'start the sandbox as an ordinary user',
  );
}

/** Undefined when the user does not exist or has the id of root. */
export function parsePasswd(text: string, name: string): ServerUser | undefined {
  const fields = text
    .split('\n')
    .map((line) => line.split(':'))
    .find(([first]) => first === name);
  const [uid, gid] = [Number(fields?.[2]), Number(fields?.[3])];
  return Number.isInteger(uid) && uid > 0 && Number.isInteger(gid) && gid > 0 ? { name, uid, gid } : undefined;
}

/** Options for spawn(). With a uid Node also drops the supplementary groups (libuv calls setgroups before setuid). */
export function spawnOptions({ user, directory }: RunAs): {
  cwd: string;
  env: Record<string, string>;
  uid?: number;
  gid?: number;
} {
  // TZ saves initdb a search through all time zones. macOS needs LC_ALL to start the server.
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', HOME: directory, LC_ALL: 'C', TZ: 'UTC' };
  return { cwd: directory, env, ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }) };
}

/** Never rejects. */
export function run(runAs: RunAs, program: string, args: readonly string[], timeoutMs = 60_000): Promise<RunOutcome> {
  const options = { ...spawnOptions(runAs), timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
  return new Promise((resolve) => {
    const done = (error: Error | null, stdout: string, stderr: string): void => {
      const output = `${stdout}${stderr}`.trim();
      if (error === null) return resolve({ code: 0, output });
      const code = 'code' in error ? error.code : undefined;
      const signal = 'signal' in error ? error.signal : undefined;
      const ended = [code, signal].find((word) => typeof word === 'number' || typeof word === 'string') ?? 'an error';
      resolve({ code: ended, output: output === '' ? error.message : output });
    };
    try {
      execFile(program, [...args], options, done);
    } catch (error) {
      // A user id that we may not use throws here.
      done(error instanceof Error ? error : new Error(String(error)), '', '');
    }
  });
}

/** Gives the directory to the server's user. Its contents keep their owners. */
export async function give(path: string, user: ServerUser | undefined): Promise<void> {
  if (user !== undefined) await lchown(path, user.uid, user.gid);
}

/** The reason why the server's user cannot work in its own directory; undefined when it can. */
export async function whyUnreachable(runAs: RunAs): Promise<string | undefined> {
  const { user, directory } = runAs;
  if (!(await lstat(directory)).isDirectory()) return `${directory} is not a directory`;
  // Node changes the directory before the user, so the program itself must check.
  const { code } = await run({ user, directory: '/' }, '/bin/sh', ['-c', 'cd "$1" && test -w .', 'sh', directory]);
  if (code === 0) return undefined;
  return `${user?.name ?? 'this user'} cannot enter ${directory}; set TMPDIR to a directory that every user can enter`;
}

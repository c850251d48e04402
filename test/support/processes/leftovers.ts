// Leftovers of a cluster on this machine, as the kernel reports them: processes, shared memory, listening ports.
// Without /proc only the ports can be seen.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { refusesConnections } from '../sockets/free-ports.ts';

interface ProcessFound {
  readonly pid: number;
  readonly commandLine: string;
}

/** Those whose command line or working directory names the directory. */
export function processesOf(directory: string): readonly ProcessFound[] {
  const pids = entries('/proc').filter((entry) => /^\d+$/.test(entry));
  return pids.flatMap((pid) => {
    const commandLine = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
    const isOfIt = commandLine.includes(directory) || workingDirectory(pid).startsWith(directory);
    return isOfIt ? [{ pid: Number(pid), commandLine }] : [];
  });
}

/** A System V segment. PostgreSQL keeps one per server as a lock. */
interface Segment {
  readonly id: string;
  readonly creator: number;
}

export function segments(): readonly Segment[] {
  const [header = '', ...rows] = read('/proc/sysvipc/shm').trim().split('\n').map(words);
  const [id, creator] = [header.indexOf('shmid'), header.indexOf('cpid')];
  return rows.map((row) => ({ id: row[id] ?? '', creator: Number(row[creator]) }));
}

/** The ports among these on loopback that somebody listens on. */
export async function listening(ports: readonly number[]): Promise<readonly number[]> {
  const refused = await Promise.all(ports.map((port) => refusesConnections('127.0.0.1', port)));
  return ports.filter((_, index) => refused[index] === false);
}

function words(line: string): readonly string[] {
  return line.trim().split(/\s+/);
}

function entries(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function workingDirectory(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

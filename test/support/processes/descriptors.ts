// How many files and sockets a process has open.
import { readdirSync } from 'node:fs';

/** Undefined when the process is gone. */
export function openDescriptors(pid: number | 'self' = 'self'): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return undefined;
  }
}

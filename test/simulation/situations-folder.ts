// Makes the folder in which the parts of the normal run leave the situations that they have reached.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

export default function setup({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'pointsman-situations-'));
  provide('situationsFolder', folder);
  return () => rmSync(folder, { recursive: true });
}

// Of a configuration that has errors, the section that says where a running Pointsman is asked, and with which token:
// that program runs with what it was started with, and is to be asked all the same.
import { readFileSync } from 'node:fs';
import type { AdminConfig } from './config.ts';
import { loadConfig } from './load.ts';
import type { LoadOptions } from './load.ts';
import { childOf } from './source/tree.ts';
import { readYamlLoosely } from './source/yaml-text.ts';

/** Not asked: a configuration needs one. */
const NO_SEED = 'http://127.0.0.1:1';
const PREFIX = 'POINTSMAN_ADMIN_';

/** Undefined when that section cannot be used, or may be in the part of the file that cannot be read. */
export function loadAdmin({ file, env, readFile }: LoadOptions): AdminConfig | undefined {
  const text = file === undefined ? '' : read(file, readFile);
  const { tree, isWhole } = text === undefined ? { tree: undefined, isWhole: false } : readYamlLoosely(text);
  const section = childOf(tree, 'admin');
  const isAddressKnown = isWhole || childOf(section, 'address') !== undefined || Boolean(env[`${PREFIX}ADDRESS`]);
  if (!isAddressKnown) return undefined;
  const own = Object.entries(env).filter(([name]) => name.startsWith(PREFIX));
  const alone = JSON.stringify({ cluster: { seeds: [NO_SEED] }, ...(section === undefined ? {} : { admin: section }) });
  const loaded = loadConfig({ file: 'admin', env: Object.fromEntries(own), readFile: () => alone });
  return loaded.kind === 'ok' ? loaded.config.admin : undefined;
}

function read(file: string, readFile = (name: string): string => readFileSync(name, 'utf8')): string | undefined {
  try {
    return readFile(file);
  } catch {
    return undefined;
  }
}

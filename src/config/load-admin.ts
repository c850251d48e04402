// The section `admin` of a configuration that may have errors elsewhere. Commands need the address and the token of the
// running Pointsman, which still runs with the configuration that it was started with.
import type { AdminConfig } from './config.ts';
import { loadConfig, NO_SEED, type LoadOptions } from './load.ts';
import { childOf } from './source/tree.ts';
import { readWhole } from './source/read-file.ts';
import { readYamlLoosely } from './source/yaml-text.ts';

const PREFIX = 'POINTSMAN_ADMIN_';

/** Undefined when the section cannot be used, or may be in a part of the file that cannot be read. */
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

function read(file: string, readFile = readWhole): string | undefined {
  try {
    return readFile(file);
  } catch {
    return undefined;
  }
}

// `pointsman status`: one screen about a running Pointsman and its cluster.
import { addressText } from '../../model/member.ts';
import { EXIT, type CliIo } from '../io.ts';
import { asJson } from '../json.ts';
import { adminAddresses } from '../several.ts';
import { paintFor } from '../terminal/colour.ts';
import { widthFor } from '../terminal/terminal-table.ts';
import { readStatus, type StatusOptions } from './read-status.ts';
import { evidenceText } from './evidence-text.ts';
import { runningOperations } from './operations-under-way.ts';
import { statusOfEach } from './status-of-each.ts';
import { statusScreen } from './status-screen.ts';
import { watchStatus } from './watch-status.ts';

export interface StatusCommandOptions extends StatusOptions {
  /** The evidence for each member's place in each pool. */
  readonly why?: boolean | undefined;
  /** Live, with rates and the last events. True: every second. Else the interval. */
  readonly watch?: true | string | undefined;
}

/** Exit code 0 if every pool serves, or the given one; 1 if one does not. With `watch` that of `watchStatus`. */
export async function status(options: StatusCommandOptions, io: CliIo): Promise<number> {
  const { watch } = options;
  if (watch !== undefined)
    return watchStatus({ ...options, interval: watch === true ? '1s' : watch, flag: '--watch' }, io);
  const addresses = await adminAddresses(options, io);
  if (addresses.length > 1) return await statusOfEach(addresses, options, io);
  const [admin = options.admin] = addresses;
  const found = await readStatus({ ...options, admin }, io);
  if (options.json === true) io.stdout(asJson(found.status));
  else {
    const operations = await runningOperations(found.running);
    const screen = { paint: paintFor(io), width: widthFor(io), from: addressText(found.running.address), operations };
    io.stdout(statusScreen(found.status, screen));
    if (options.why === true) io.stdout(`\n${evidenceText(found.status, screen)}`);
  }
  return found.status.pools.every(({ route }) => route.kind === 'open') ? EXIT.ok : EXIT.failure;
}

// `pointsman run`: loads the configuration and starts the proxy.
import { STANDARD_INPUT } from '../config/source/read-file.ts';
import { configFor, load, type ConfigOptions } from './configuration.ts';
import { EXIT, type CliIo, type Reload, type RunApp } from './io.ts';

export async function run(options: ConfigOptions, io: CliIo, runApp: RunApp): Promise<number> {
  const loaded = configFor(options, io);
  try {
    const reload: Reload = () =>
      loaded.file === undefined || loaded.file === STANDARD_INPUT ? { kind: 'no_file' } : load(options, io);
    return await runApp({ ...loaded, reload });
  } catch (error) {
    io.stderr(`pointsman: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return EXIT.failure;
  }
}

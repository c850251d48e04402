// SHOW CONFIG and SHOW VERSION, with exactly PgBouncer's columns: exporters count those of SHOW CONFIG.
import { showOf, text, type SettingRow } from '../console-table.ts';

export const CONFIG = showOf(
  'the configuration in effect, without secrets',
  text<SettingRow>({
    key: ({ key }) => key,
    value: ({ value }) => value,
    default: (setting) => setting.default,
    changeable: ({ changeable }) => changeable,
  }),
  async ({ settings }) => ({ rows: await settings() }),
);

export const VERSION = showOf(
  'the version of Pointsman',
  text<string>({ version: (version) => `Pointsman ${version}` }),
  ({ version }) => ({ rows: [version] }),
);

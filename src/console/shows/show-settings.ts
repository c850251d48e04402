// SHOW CONFIG and SHOW VERSION, with exactly PgBouncer's columns: exporters count those of SHOW CONFIG.
import { tableOf, text, type ColumnOf, type Table } from '../console-table.ts';

/** One value of the configuration, as an operator writes it. */
export interface SettingRow {
  /** `hold.client_timeout` */
  readonly key: string;
  readonly value: string;
  /** Null: it has none, or depends on other keys. */
  readonly default: string | null;
  /** A reload changes it. */
  readonly changeable: boolean;
}

export const settingColumns: readonly ColumnOf<SettingRow>[] = text<SettingRow>({
  key: ({ key }) => key,
  value: ({ value }) => value,
  default: (setting) => setting.default,
  changeable: ({ changeable }) => changeable,
});

export const versionColumns: readonly ColumnOf<string>[] = text<string>({
  version: (version) => `Pointsman ${version}`,
});

export function showConfig(settings: readonly SettingRow[]): Table {
  return tableOf(settingColumns, settings);
}

export function showVersion(version: string): Table {
  return tableOf(versionColumns, [version]);
}

// The dashboards, and the files that have them.
import { dashboardText } from './dashboard.ts';
import { FAILOVER } from './failover.ts';
import { FLEET } from './fleet.ts';
import { OVERVIEW } from './overview.ts';

const DASHBOARDS = [OVERVIEW, FAILOVER, FLEET];
const DEPLOY = new URL('../../../../../deploy/', import.meta.url);
/** helm reads no file outside of the chart, so it has copies. */
const FOLDERS = ['grafana/dashboards', 'kubernetes/chart/files/dashboards'];

/** Each file's path, and its text as it should be. */
export function dashboardFiles(): readonly (readonly [path: string, text: string])[] {
  return DASHBOARDS.flatMap((dashboard) =>
    FOLDERS.map(
      (folder) => [new URL(`${folder}/${dashboard.name}.json`, DEPLOY).pathname, dashboardText(dashboard)] as const,
    ),
  );
}

// `npm run chart-readme`: writes the tables of the chart's README anew.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chartReadme } from './support/deploy/chart-readme.ts';
import { CHART } from './support/deploy/render-chart.ts';

await writeFile(join(CHART, 'README.md'), await chartReadme());

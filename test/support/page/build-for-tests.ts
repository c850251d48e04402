// Before the tests that start Pointsman: the status page that it serves is that of the sources.
import { buildPage } from './build-page.ts';

const DIST = new URL('../../../dist/page/', import.meta.url).pathname;

export default async function setUp(): Promise<void> {
  await buildPage(DIST);
}

// Whether the sandbox can run here: npm leaves its PostgreSQL out on platforms without one, and when optional
// dependencies are not wanted.
import { findBinaries } from '../../../src/sandbox/postgres/binaries.ts';

const found = await findBinaries('embedded');

/** The missing part, for people; undefined when the sandbox can run. */
export const missingForSandbox = found.kind === 'found' ? undefined : `the sandbox: ${found.why}`;

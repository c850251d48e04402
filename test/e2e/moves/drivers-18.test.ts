// Every driver keeps every feature of its session through a move: PostgreSQL 18, of the sandbox.
import { describeDrivers } from '../../support/moves/driver-tests.ts';

describeDrivers('18', 'embedded');

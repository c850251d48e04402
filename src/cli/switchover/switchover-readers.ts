// The plan and the operation, as the command reads them from a Pointsman of any version.
import type { z } from 'zod';
import { looseReader } from '../../documents/loose-reader.ts';
import { operationConflict, operationDocument, planDocument } from '../../documents/switchover-document.ts';

export const planReader = looseReader(planDocument);
export const operationReader = looseReader(operationDocument);
/** The refusal, with the operation that runs. */
export const busyReader = looseReader(operationConflict);

export type SwitchoverPlanDocument = z.infer<typeof planReader>;
export type Operation = z.infer<typeof operationReader>;

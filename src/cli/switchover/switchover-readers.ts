// The plan and the operation, as the command reads them from a Pointsman of any version.
import { z } from 'zod';
import { failure } from '../../documents/action-answers.ts';
import { looseReader } from '../../documents/loose-reader.ts';
import { operationDocument, planDocument } from '../../documents/switchover-document.ts';

export const planReader = looseReader(planDocument);
export const operationReader = looseReader(operationDocument);
/** The refusal, with the operation that runs. */
export const busyReader = looseReader(z.object({ ...failure.shape, operation: operationDocument.exactOptional() }));

export type SwitchoverPlanDocument = z.infer<typeof planReader>;
export type Operation = z.infer<typeof operationReader>;

// The part of `check --live` about the questions for WAL positions, which causal reads need.
import type { MemberName } from '../model/member.ts';

export interface PositionsReport {
  readonly member: MemberName;
  /** Every causal read needs its answer. */
  readonly isPrimary: boolean;
  /** Undefined: it has answered, and reports its timeline. */
  readonly why: string | undefined;
}

export function positionsText(reports: readonly PositionsReport[]): string {
  const answered = reports.filter(({ why }) => why === undefined).map(({ member }) => member);
  const names = answered.length === 0 ? '' : `: ${answered.join(', ')}`;
  return `positions: ${answered.length} of ${reports.length} members can be asked${names}\n`;
}

/** Reads on a replica that does not answer are late; without the primary all are. */
export function positionFaults(
  reports: readonly PositionsReport[] = [],
): Readonly<Record<'problems' | 'warnings', readonly string[]>> {
  const faults = reports.flatMap(({ member, isPrimary, why }) => {
    if (why === undefined) return [];
    const late = isPrimary ? 'all causal reads are late' : `causal reads on ${member} are late`;
    return [{ isPrimary, text: `${late}: ${member} cannot be asked for its position: ${why}` }];
  });
  return {
    problems: faults.filter(({ isPrimary }) => isPrimary).map(({ text }) => text),
    warnings: faults.filter(({ isPrimary }) => !isPrimary).map(({ text }) => text),
  };
}

// A chart in words, for screen readers. Pure.

export interface SummaryLine {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

/** `Sessions of the last hour. write: 42 now, 0 to 57.` */
export function summaryOf(
  title: string,
  lines: readonly SummaryLine[],
  format: (value: number) => string,
  empty: string,
): string {
  if (lines.length === 0) return `${title}: ${empty}`;
  const parts = lines.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    const now = values.at(-1);
    if (known.length === 0) return `${name}: unknown`;
    const [least, most] = [Math.min(...known), Math.max(...known)];
    const range = least === most ? `always ${format(most)}` : `${format(least)} to ${format(most)}`;
    return `${name}: ${now === null || now === undefined ? 'unknown' : format(now)} now, ${range}`;
  });
  return `${title} of the last hour. ${parts.join('. ')}.`;
}

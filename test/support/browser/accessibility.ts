// Accessibility as axe judges it: contrast, names, roles, the order of headings, focus.
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { z } from 'zod';

const results = z.object({
  violations: z.array(
    z.object({
      id: z.string(),
      impact: z.string().nullable(),
      help: z.string(),
      nodes: z.array(z.object({ html: z.string(), failureSummary: z.string().optional() })),
    }),
  ),
});

/** The findings of impact serious and critical, with the elements that they are about. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const { violations } = results.parse(await page.evaluate("axe.run(document, { resultTypes: ['violations'] })"));
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${help}: ${html} ${failureSummary}`),
    );
}

// When a page showed something, by the clock that this process has too: the page's own mutation observer notes it.
import type { Page } from 'playwright-core';

/**
 * The time at which the text of an element that fits the selector matched first, in milliseconds since 1970. Resolves
 * once the observer is there, with a function that waits for its result.
 */
export async function watchFor(page: Page, selector: string, pattern: RegExp): Promise<() => Promise<number>> {
  const handle = await page.evaluateHandle(`({ seen: new Promise((resolve) => {
    const look = () => {
      const texts = [...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.textContent);
      if (!texts.some((text) => ${String(pattern)}.test(text))) return;
      observer.disconnect();
      resolve(Date.now());
    };
    const observer = new MutationObserver(look);
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    look();
  }) })`);
  return () => handle.evaluate(({ seen }: { readonly seen: Promise<number> }) => seen);
}

// The clipboard. Its interface needs HTTPS or localhost; elsewhere an old command does the same.

/** False: the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  if (isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // The permission may be missing.
    }
  }
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  // oxlint-disable-next-line typescript/no-deprecated -- plain HTTP has nothing else
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
}

// The incident as a text for a ticket, and as a file.
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { copyText } from '../components/copy-text.ts';

const DEADLINE_MS = 15_000;

type CopyResult =
  | { readonly kind: 'copied' }
  | { readonly kind: 'shown'; readonly text: string }
  | { readonly kind: 'failed' };

const WORDS: Readonly<Record<CopyResult['kind'], string>> = {
  copied: 'Copied.',
  shown: 'The browser does not let this page copy. The text is selected below: copy it with the keyboard.',
  failed: 'Pointsman does not answer.',
};

export function Share({ id }: { readonly id: string }): JSX.Element {
  const [copied, setCopied] = useState<CopyResult>();
  const area = useRef<HTMLTextAreaElement>(null);
  async function copy(): Promise<void> {
    const text = await ticketOf(id);
    const next = await copiedFrom(text);
    setCopied(next);
    if (next.kind === 'shown') requestAnimationFrame(() => area.current?.select());
  }
  const path = `incidents/${encodeURIComponent(id)}`;
  return (
    <>
      <p class="buttons">
        <button type="button" class="button" onClick={() => void copy()}>
          Copy as text
        </button>
        <a class="button" href={path} download={`incident-${id}.json`}>
          Download as JSON
        </a>
        <span role="status">{copied && WORDS[copied.kind]}</span>
      </p>
      {copied?.kind === 'shown' && (
        <textarea
          class="incident-text"
          ref={area}
          readOnly
          rows={12}
          aria-label="Text for a ticket"
          value={copied.text}
        />
      )}
    </>
  );
}

async function ticketOf(id: string): Promise<string | undefined> {
  try {
    const path = `incidents/${encodeURIComponent(id)}?format=text`;
    const response = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(DEADLINE_MS) });
    return response.ok ? await response.text() : undefined;
  } catch {
    return undefined;
  }
}

async function copiedFrom(text: string | undefined): Promise<CopyResult> {
  if (text === undefined) return { kind: 'failed' };
  return (await copyText(text)) ? { kind: 'copied' } : { kind: 'shown', text };
}

// The incident as a text for a ticket, and as a file.
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { copyText } from '../components/copy-text.ts';
import { getText } from '../operate/requests.ts';

const WORDS = {
  copied: 'Copied.',
  shown: 'The browser does not let this page copy. The text is selected below: copy it with the keyboard.',
  failed: 'Pointsman does not answer.',
};

export function Share({ id }: { readonly id: string }): JSX.Element {
  const [result, setResult] = useState<keyof typeof WORDS>();
  const [text, setText] = useState('');
  const area = useRef<HTMLTextAreaElement>(null);
  const path = `incidents/${encodeURIComponent(id)}`;
  async function copy(): Promise<void> {
    const answer = await getText(`${path}?format=text`);
    if (answer.kind !== 'done') return setResult('failed');
    const isCopied = await copyText(answer.body);
    setText(answer.body);
    setResult(isCopied ? 'copied' : 'shown');
    if (!isCopied) requestAnimationFrame(() => area.current?.select());
  }
  return (
    <>
      <p class="buttons">
        <button type="button" class="button" onClick={() => void copy()}>
          Copy as text
        </button>
        <a class="button" href={path} download={`incident-${id}.json`}>
          Download as JSON
        </a>
        <span role="status">{result && WORDS[result]}</span>
      </p>
      {result === 'shown' && (
        <textarea class="incident-text" ref={area} readOnly rows={12} aria-label="Text for a ticket" value={text} />
      )}
    </>
  );
}

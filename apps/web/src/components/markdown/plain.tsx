import { maxPlainChars, withoutTurning } from './bounds.ts';

/** A text as it is written. */
export function Plain({ text }: { text: string }) {
  const left = text.length - maxPlainChars;
  return (
    <>
      <p className="whitespace-pre-wrap">{withoutTurning(left > 0 ? text.slice(0, maxPlainChars) : text)}</p>
      {left > 0 && <p className="text-muted">… {left.toLocaleString('en')} more characters are not shown.</p>}
    </>
  );
}

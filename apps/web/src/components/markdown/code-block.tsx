import { Check, Copy } from 'lucide-react';
import { useCopy } from '../copy-field.tsx';

/** A block of code with its language, which the reader can copy. It scrolls in itself. */
export function CodeBlock({ code, language }: { code: string; language?: string | undefined }) {
  const { copied, copy } = useCopy();
  const Icon = copied ? Check : Copy;
  return (
    <div className="overflow-hidden rounded-control border border-line bg-sunken">
      <div className="flex items-center justify-between gap-2 border-b border-line py-1 pr-1 pl-3 text-xs text-muted">
        <span className="truncate font-mono">{language ?? 'text'}</span>
        <button
          type="button"
          onClick={(event) => copy(code, event.currentTarget)}
          className="inline-flex h-7 items-center gap-1.5 rounded-control px-2 hover:bg-hover hover:text-ink"
        >
          <Icon aria-hidden className="size-3.5" />
          {copied ? 'Copied' : 'Copy'}
          <span className="sr-only"> code</span>
        </button>
      </div>
      <pre
        role="group"
        aria-label={`Code: ${language ?? 'text'}`}
        tabIndex={0}
        dir="ltr"
        className="max-h-[32rem] overflow-auto p-3 font-mono text-[0.8125rem] leading-5"
      >
        <code>{code}</code>
      </pre>
    </div>
  );
}

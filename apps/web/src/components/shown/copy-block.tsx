import { Check, Copy } from 'lucide-react';
import { Button } from '../button.tsx';
import { useCopy } from '../copy-field.tsx';

/** A longer text for machines, in a bounded block, with a button that copies it. */
export function CopyBlock({ label, value }: { readonly label: string; readonly value: string }) {
  const { copied, copy } = useCopy();
  const Icon = copied ? Check : Copy;
  return (
    <div className="flex flex-col items-start gap-2">
      <pre
        tabIndex={0}
        role="group"
        aria-label={label}
        className="max-h-48 w-full overflow-auto rounded-control border border-line bg-surface p-3 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere text-ink"
      >
        {value}
      </pre>
      <Button small aria-label={`Copy: ${label}`} onClick={(event) => copy(value, event.currentTarget)}>
        <Icon aria-hidden className="size-4" />
        {copied ? 'Copied' : 'Copy'}
      </Button>
      <span role="status" className="sr-only">
        {copied ? `${label} copied.` : ''}
      </span>
    </div>
  );
}

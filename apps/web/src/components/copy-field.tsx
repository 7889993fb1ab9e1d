import { Check, Copy } from 'lucide-react';
import { useEffect, useId, useState } from 'react';
import { Button } from './button.tsx';
import { cx } from './cx.ts';
import { controlClass } from './form/field.tsx';

/** Copies a value and says so for a while. `from` is the pressed button. */
export function useCopy(): { copied: boolean; copy: (value: string, from: HTMLElement) => void } {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 4000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (value: string, from: HTMLElement): void => {
    if (!window.isSecureContext) setCopied(copyBySelection(value, from));
    else
      navigator.clipboard.writeText(value).then(
        () => setCopied(true),
        () => setCopied(copyBySelection(value, from)),
      );
  };
  return { copied, copy };
}

/**
 * Copies by selection, for a page without a clipboard (plain http). The text area is beside the button, because nothing
 * outside an open dialog is selectable.
 */
function copyBySelection(value: string, from: HTMLElement): boolean {
  const area = document.createElement('textarea');
  area.value = value;
  area.className = 'sr-only';
  from.after(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  from.focus();
  return copied;
}

/** A value to copy, wholly selected when focused, with a button. */
export function CopyField({ label, value, autoFocus = false }: { label: string; value: string; autoFocus?: boolean }) {
  const id = useId();
  const { copied, copy } = useCopy();
  const Icon = copied ? Check : Copy;
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      <div className="flex items-stretch gap-2 max-sm:flex-col">
        <textarea
          id={id}
          readOnly
          rows={2}
          value={value}
          spellCheck={false}
          onFocus={(event) => event.currentTarget.select()}
          className={cx(
            controlClass,
            'field-sizing-content h-auto! resize-none bg-sunken! py-2 font-mono text-[0.8125rem]! break-all',
          )}
        />
        <Button
          variant="primary"
          data-autofocus={autoFocus ? '' : undefined}
          onClick={(event) => copy(value, event.currentTarget)}
          className="min-w-24 sm:h-auto"
        >
          <Icon aria-hidden className="size-4" />
          {copied ? 'Copied' : 'Copy'}
        </Button>
      </div>
      <span role="status" className="sr-only">
        {copied ? `${label} copied.` : ''}
      </span>
    </div>
  );
}

import { LoaderCircle } from 'lucide-react';
import type { ComponentProps } from 'react';
import { cx } from './cx.ts';

type Variant = 'primary' | 'secondary' | 'danger' | 'ghost' | 'ghost-danger';

const looks: Readonly<Record<Variant, string>> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-hover',
  secondary: 'border border-control/50 bg-surface text-ink hover:bg-hover',
  danger: 'bg-danger-solid text-on-danger hover:bg-danger-hover',
  ghost: 'text-ink hover:bg-hover',
  'ghost-danger': 'text-danger hover:bg-danger-soft',
};

export function buttonClass(variant: Variant, small = false): string {
  return cx(
    'inline-flex shrink-0 items-center justify-center gap-2 rounded-control font-medium whitespace-nowrap transition-colors',
    'aria-disabled:cursor-default aria-disabled:opacity-60',
    small ? 'h-8 px-3 text-[0.8125rem]' : 'h-9 px-4',
    looks[variant],
  );
}

export interface ButtonProps extends ComponentProps<'button'> {
  readonly variant?: Variant;
  readonly small?: boolean;
  /** While at work the button keeps its place and the focus, and takes no further click. */
  readonly pending?: boolean;
}

export function Button({ variant = 'secondary', small, pending = false, className, ...props }: ButtonProps) {
  return (
    <button
      type="button"
      {...props}
      {...(pending ? { 'aria-disabled': true, 'aria-busy': true, onClick: (event) => event.preventDefault() } : {})}
      className={cx(buttonClass(variant, small), className)}
    >
      {pending && <LoaderCircle aria-hidden className="size-4 animate-spin" />}
      {props.children}
    </button>
  );
}

/** A button with only a picture. Its label is for people who do not see the picture, and is its tooltip. */
export function IconButton({ label, className, ...props }: ComponentProps<'button'> & { readonly label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...props}
      className={cx(
        'inline-flex size-9 shrink-0 items-center justify-center rounded-control text-muted transition-colors hover:bg-hover hover:text-ink',
        className,
      )}
    />
  );
}

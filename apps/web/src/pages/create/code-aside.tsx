import { Check, Copy } from 'lucide-react';
import { Tabs } from 'radix-ui';
import { useState } from 'react';
import type { CreateAgent } from '@lodge/sdk';
import { Button } from '../../components/button.tsx';
import { useCopy } from '../../components/copy-field.tsx';
import { samplesOf } from './code-samples.ts';

/** The same as the form, for people who do it by a program. */
export function CodeAside({ body, baseUrl }: { readonly body: CreateAgent; readonly baseUrl: string }) {
  const samples = samplesOf(body, baseUrl);
  const [shown, setShown] = useState<string>('cli');
  const { copied, copy } = useCopy();
  const Icon = copied ? Check : Copy;
  const code = samples.find(({ id }) => id === shown)?.code ?? '';
  return (
    <aside
      aria-label="The same by a program"
      className="flex min-w-0 flex-col overflow-hidden rounded-card border border-line bg-surface shadow-card lg:sticky lg:top-6 lg:max-h-[calc(100dvh-3rem)]"
    >
      <header className="flex items-center justify-between gap-3 border-b border-line py-2.5 pr-2.5 pl-4">
        <h2 className="font-semibold">The same by a program</h2>
        <Button small onClick={(event) => copy(code, event.currentTarget)} className="min-w-20">
          <Icon aria-hidden className="size-3.5" />
          {copied ? 'Copied' : 'Copy'}
        </Button>
        <span role="status" className="sr-only">
          {copied ? 'Code copied.' : ''}
        </span>
      </header>
      <Tabs.Root value={shown} onValueChange={setShown} className="flex min-h-0 flex-col">
        <Tabs.List aria-label="Language" className="flex gap-1 border-b border-line px-2">
          {samples.map(({ id, label }) => (
            <Tabs.Trigger
              key={id}
              value={id}
              className="-mb-px border-b-2 border-transparent px-2.5 py-2 text-[0.8125rem] text-muted hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-accent"
            >
              {label}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {samples.map(({ id, label, code: text }) => (
          <Tabs.Content key={id} value={id} className="min-h-0 overflow-auto bg-sunken p-4">
            <pre aria-label={label} className="font-mono text-xs leading-5 wrap-anywhere whitespace-pre-wrap">
              {text}
            </pre>
          </Tabs.Content>
        ))}
      </Tabs.Root>
      <p className="border-t border-line px-4 py-2.5 text-[0.8125rem] text-muted">
        Keys stand in variables of your shell. Your own key of this Lodge comes from the page API keys.
      </p>
    </aside>
  );
}

import { useRouter } from '@tanstack/react-router';
import { Clock, Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { FormEvent } from 'react';
import { Button } from '../../../components/button.tsx';
import { cx } from '../../../components/cx.ts';
import { controlClass } from '../../../components/form/field.tsx';
import { fieldTime } from './log-times.ts';
import { levelLabels, levelNames, sourceLabels, sourceNames } from './log-words.ts';
import type { LogSearch } from '../routes.ts';

const searchDelayMs = 250;

interface ToolbarProps {
  readonly search: LogSearch;
  readonly change: (change: { readonly [Name in keyof LogSearch]?: LogSearch[Name] | undefined }) => void;
}

/** The choice of lines that are shown. Every choice is in the page's address. */
export function LogToolbar({ search, change }: ToolbarProps) {
  return (
    <div role="group" aria-label="Filters" className="flex flex-wrap items-center gap-2">
      <SearchBox value={search.q ?? ''} onChange={(q) => change({ q: q === '' ? undefined : q })} />
      <select
        aria-label="Level"
        value={search.level ?? 'debug'}
        onChange={({ target }) => {
          const level = levelNames.find((name) => name === target.value);
          change({ level: level === 'debug' ? undefined : level });
        }}
        className={cx(controlClass, 'w-auto! px-2 max-sm:flex-1')}
      >
        {levelNames.map((name) => (
          <option key={name} value={name}>
            {levelLabels[name]}
          </option>
        ))}
      </select>
      <select
        aria-label="Source"
        value={search.source ?? ''}
        onChange={({ target }) => change({ source: sourceNames.find((name) => name === target.value) })}
        className={cx(controlClass, 'w-auto! px-2 max-sm:flex-1')}
      >
        <option value="">All sources</option>
        {sourceNames.map((name) => (
          <option key={name} value={name}>
            {sourceLabels[name]}
          </option>
        ))}
      </select>
      <JumpForm key={search.at ?? ''} at={search.at} jump={(at) => change({ at })} />
    </div>
  );
}

/** Searches a moment after the last key, so that typing waits for nothing. */
function SearchBox({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const sent = useRef(value);
  const router = useRouter();
  const [page] = useState(() => router.latestLocation.pathname);
  useEffect(() => {
    // The address changed by itself: by a link, or by going back.
    if (value !== sent.current) setTyped((sent.current = value));
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const send = (next: string): void => {
    clearTimeout(timer.current);
    // Another page is being opened: changing this one's address would bring it back.
    if (router.latestLocation.pathname !== page) return;
    sent.current = next;
    onChange(next);
  };
  return (
    <div className="relative min-w-48 grow max-sm:basis-full">
      <Search aria-hidden className="absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted" />
      <input
        type="search"
        aria-label="Search the log"
        placeholder="Search the log"
        maxLength={200}
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => send(target.value), searchDelayMs);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') send(typed);
        }}
        className={cx(controlClass, 'pl-9')}
      />
    </div>
  );
}

function JumpForm({ at, jump }: { at: string | undefined; jump: (at: string | undefined) => void }) {
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget).get('at');
    const time = new Date(typeof given === 'string' ? given : '');
    if (!Number.isNaN(time.getTime())) jump(time.toISOString());
  };
  return (
    <form onSubmit={submit} className="flex gap-2 max-sm:w-full">
      <input
        type="datetime-local"
        name="at"
        step={1}
        required
        aria-label="Time to jump to"
        defaultValue={fieldTime(at === undefined ? new Date() : new Date(at))}
        className={cx(controlClass, 'w-auto! min-w-0 max-sm:grow max-sm:px-2')}
      />
      <Button type="submit">
        <Clock aria-hidden className="size-4 max-sm:hidden" />
        Jump
      </Button>
    </form>
  );
}

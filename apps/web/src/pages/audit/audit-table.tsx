import { Link } from '@tanstack/react-router';
import type { AuditEvent } from '@lodge/sdk';
import { Code } from '../../components/badge.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { Time } from '../../components/time.tsx';
import { formatDateTime } from '../../format.ts';
import { actors } from './search.ts';
import type { AuditSearch } from './search.ts';

interface AuditTableProps {
  readonly rows: readonly AuditEvent[];
  readonly nameOf: (type: string, id: string | null) => string | null;
  readonly search: AuditSearch;
}

export function AuditTable({ rows, nameOf, search }: AuditTableProps) {
  const columns: readonly Column<AuditEvent>[] = [
    {
      header: 'Change',
      cell: ({ action, details }) => (
        <span className="flex min-w-0 flex-col items-start gap-1">
          <Code>{action}</Code>
          <span className="text-[0.8125rem] font-normal wrap-anywhere text-muted">{wordsOf(details)}</span>
        </span>
      ),
    },
    { header: 'Of', cell: ({ target }) => <Target target={target} search={search} /> },
    { header: 'By', cell: ({ actor }) => <Actor actor={actor} name={nameOf(actor.type, actor.id)} /> },
    {
      header: 'From',
      cell: ({ address, request_id: requestId }) => (
        <span className="flex min-w-0 flex-col gap-0.5">
          <span className="tabular-nums">{address ?? 'this machine'}</span>
          {requestId !== null && (
            <span title={requestId} className="max-w-40 truncate font-mono text-xs text-muted">
              {requestId}
            </span>
          )}
        </span>
      ),
    },
    { header: 'When', cell: ({ created_at: at }) => <Time value={at} /> },
  ];
  return <DataTable label="Changes" columns={columns} rows={rows} keyOf={({ id }) => id} />;
}

const actorWords = { account: 'Person', api_key: 'API key', operator: 'Operator' } as const satisfies
  | typeof actors
  | object;

function Actor({ actor: { type, id }, name }: { actor: AuditEvent['actor']; name: string | null }) {
  return (
    <span className="flex min-w-0 flex-col gap-0.5">
      <span className="wrap-break-word md:min-w-24">{name ?? actorWords[type]}</span>
      {type === 'api_key' && name !== null && <span className="text-[0.8125rem] text-muted">API key</span>}
      {name === null && id !== null && <span className="max-w-40 truncate font-mono text-xs text-muted">{id}</span>}
    </span>
  );
}

/** An object leads to all that was done to it. */
function Target({ target, search }: { target: AuditEvent['target']; search: AuditSearch }) {
  if (target === null) return <span className="text-muted">–</span>;
  return (
    <span className="flex min-w-0 flex-col gap-0.5">
      <span>{spell(target.type)}</span>
      <Link
        to="/account/audit"
        search={{ ...search, target: target.id }}
        title={`All changes of ${target.id}`}
        className="max-w-44 truncate font-mono text-xs text-muted underline-offset-4 hover:underline"
      >
        {target.id}
      </Link>
    </span>
  );
}

const acronyms: Readonly<Record<string, string>> = { api: 'API', url: 'URL', usd: 'USD', id: 'ID', oauth: 'OAuth' };

/** `api_key` as `API key`. */
const spell = (name: string): string =>
  name
    .split('_')
    .map((word) => acronyms[word] ?? word)
    .join(' ');

/** Longest text of an event's facts that is shown; its owner wrote some of them. */
const maxWords = 240;

const isMoment = (name: string, value: string): boolean =>
  (name.endsWith('_at') || name.endsWith('_until')) && !Number.isNaN(Date.parse(value));

const textOf = (name: string, value: unknown): string => {
  if (typeof value === 'string') return isMoment(name, value) ? formatDateTime(new Date(value)) : value;
  return Array.isArray(value) ? value.join(', ') : JSON.stringify(value);
};

function wordsOf(details: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(details)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${spell(name)}: ${textOf(name, value)}`)
    .join(' · ');
  return words.length > maxWords ? `${words.slice(0, maxWords)}…` : words;
}

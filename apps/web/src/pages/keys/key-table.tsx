import { useMemo } from 'react';
import type { KeyRecord } from '../../api.ts';
import { Badge, Code } from '../../components/badge.tsx';
import type { Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { Time } from '../../components/time.tsx';

const soonMs = 7 * 24 * 3600 * 1000;

function statusOf(key: KeyRecord): { readonly label: string; readonly tone: Tone; readonly usable: boolean } {
  if (key.revoked_at !== null) return { label: 'Revoked', tone: 'quiet', usable: false };
  const left = key.expires_at === null ? Infinity : Date.parse(key.expires_at) - Date.now();
  if (left <= 0) return { label: 'Expired', tone: 'quiet', usable: false };
  if (left <= soonMs) return { label: 'Expires soon', tone: 'warning', usable: true };
  return { label: 'Active', tone: 'good', usable: true };
}

function Name({ record }: { record: KeyRecord }) {
  return (
    <span className="flex min-w-0 flex-col gap-0.5">
      <span className="wrap-anywhere">{record.name}</span>
      <span className="font-mono text-xs font-normal whitespace-nowrap text-muted">…{record.last4}</span>
    </span>
  );
}

const never = <span className="text-muted">Never</span>;

const columns: readonly Column<KeyRecord>[] = [
  { header: 'Name', cell: (key) => <Name record={key} /> },
  {
    header: 'Scopes',
    cell: (key) => (
      <span className="flex flex-wrap gap-1">
        {key.scopes.map((scope) => (
          <Code key={scope}>{scope}</Code>
        ))}
      </span>
    ),
  },
  { header: 'Last used', cell: (key) => (key.last_used_at === null ? never : <Time value={key.last_used_at} />) },
  { header: 'Expires', cell: (key) => (key.expires_at === null ? never : <Time value={key.expires_at} as="date" />) },
  {
    header: 'Status',
    cell: (key) => {
      const { label, tone } = statusOf(key);
      return <Badge tone={tone}>{label}</Badge>;
    },
  },
];

/** All keys: working ones first, each part newest first. */
export function KeyTable({ keys, revoke }: { keys: readonly KeyRecord[]; revoke: (key: KeyRecord) => void }) {
  const rows = useMemo(() => keys.toSorted(byUse), [keys]);
  const actions: Column<KeyRecord> = {
    header: 'Actions',
    actions: true,
    cell: (key) =>
      statusOf(key).usable && (
        <Button
          small
          variant="ghost-danger"
          aria-label={`Revoke ${key.name}`}
          onClick={() => revoke(key)}
          className="max-md:-ml-3 md:-my-1.5 md:-mr-3"
        >
          Revoke
        </Button>
      ),
  };
  return (
    <DataTable
      label="API keys"
      columns={[...columns, actions]}
      rows={rows}
      keyOf={({ id }) => id}
      dimmed={(key) => !statusOf(key).usable}
    />
  );
}

const byUse = (a: KeyRecord, b: KeyRecord): number =>
  Number(statusOf(b).usable) - Number(statusOf(a).usable) || Date.parse(b.created_at) - Date.parse(a.created_at);

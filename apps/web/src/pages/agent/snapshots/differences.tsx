import type { Agent, FileChange, Snapshot, SnapshotDiff } from '@lodge/sdk';
import { useState } from 'react';
import { Badge } from '../../../components/badge.tsx';
import type { Tone } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { SelectField } from '../../../components/form/field.tsx';
import { Form } from '../../../components/form/form.tsx';
import { text, useForm } from '../../../components/form/use-form.ts';
import { Failure } from '../../../components/notice.tsx';
import { visibleName } from '../../../components/words/visible-text.ts';
import { formatSize } from '../files/file-paths.ts';
import { snapshotDiff } from './queries.ts';
import { titleOf } from './snapshot-words.ts';

interface DifferencesProps {
  readonly agent: Agent;
  readonly snapshot: Snapshot;
  readonly others: readonly Snapshot[];
}

const now = 'now';

/** The paths that differ from the snapshot to the agent as it is, or to another snapshot. */
export function Differences({ agent: { name, status }, snapshot, others }: DifferencesProps) {
  const [found, setFound] = useState<SnapshotDiff>();
  const form = useForm<'to', SnapshotDiff>({
    check: () => ({}),
    send: (data) => {
      setFound(undefined);
      return snapshotDiff(snapshot.id, text(data, 'to'));
    },
    done: setFound,
  });
  // The workspace of a machine that is off is nowhere to look at.
  const isThere = status === 'running' || status === 'paused';
  if (!isThere && others.length === 0) return null;
  return (
    <section aria-label="Differences" className="flex flex-col gap-3 border-t border-line pt-5">
      <Form form={form} className="flex flex-col gap-3">
        <div className="flex flex-wrap items-end gap-3">
          <div className="min-w-0 grow">
            <SelectField label="How it differs from" name="to">
              {isThere && <option value={now}>{name.slice(0, 60)} as it is now</option>}
              {others.map((other) => (
                <option key={other.id} value={other.id}>
                  {titleOf(other)}
                </option>
              ))}
            </SelectField>
          </div>
          <Button type="submit" pending={form.pending}>
            Compare
          </Button>
        </div>
        <Failure error={form.failure} />
      </Form>
      {found !== undefined && <Found diff={found} />}
    </section>
  );
}

const changeWords: Readonly<Record<FileChange['change'], readonly [label: string, tone: Tone]>> = {
  added: ['Added', 'good'],
  removed: ['Removed', 'bad'],
  changed: ['Changed', 'warning'],
};

function Found({ diff: { data, truncated } }: { readonly diff: SnapshotDiff }) {
  return (
    <div role="status" className="flex flex-col gap-2">
      {data.length === 0 ? (
        <p className="text-muted">
          {truncated ? 'Nothing differs in the part that was looked at.' : 'Nothing differs.'}
        </p>
      ) : (
        <ul aria-label="Changes" tabIndex={0} className="max-h-72 divide-y divide-line overflow-y-auto">
          {data.map(({ path, change, size }) => (
            <li key={path} className="flex items-center gap-3 py-2">
              <Badge tone={changeWords[change][1]}>{changeWords[change][0]}</Badge>
              <bdi className="min-w-0 grow wrap-anywhere">{visibleName(path)}</bdi>
              <span className="shrink-0 text-[0.8125rem] text-muted tabular-nums">{formatSize(size)}</span>
            </li>
          ))}
        </ul>
      )}
      {truncated && data.length > 0 && <p className="text-muted">More differs, or the workspace has more in it.</p>}
    </div>
  );
}

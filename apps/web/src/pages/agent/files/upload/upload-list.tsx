import { Check, RotateCw, X } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { Button, IconButton } from '../../../../components/button.tsx';
import { cx } from '../../../../components/cx.ts';
import { visibleName } from '../../../../components/words/visible-text.ts';
import { formatNumber } from '../../../../format.ts';
import { Reason } from '../../../../components/notice.tsx';
import { formatSize } from '../file-paths.ts';
import type { UploadItem, UploadQueue } from './upload-queue.ts';

/** More rows would not be looked at one by one. */
const maxRows = 100;

/** The files on their way, with what the person has to decide. */
export function UploadList({ queue }: { queue: UploadQueue }) {
  const items = useSyncExternalStore(queue.subscribe, queue.items);
  if (items.length === 0) return null;
  const count = (phase: UploadItem['phase']): number => items.filter((item) => item.phase === phase).length;
  const done = count('done');
  const exists = count('exists');
  // Uploads that need somebody come first.
  const order: readonly UploadItem['phase'][] = ['exists', 'failed', 'sending', 'waiting', 'done'];
  const shown = [...items]
    .sort((one, other) => order.indexOf(one.phase) - order.indexOf(other.phase))
    .slice(0, maxRows);
  return (
    <section aria-label="Uploads" className="rounded-card border border-line bg-surface shadow-card">
      <header className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-5 py-3">
        <p role="status" className="font-medium">
          {formatNumber(done)} of {formatNumber(items.length)} uploaded
        </p>
        <div className="flex gap-2">
          {exists > 1 && (
            <Button small onClick={() => queue.replaceAll()}>
              Replace all {formatNumber(exists)}
            </Button>
          )}
          {done > 0 && (
            <Button small variant="ghost" onClick={() => queue.clear()}>
              Clear finished
            </Button>
          )}
        </div>
      </header>
      <ul className="max-h-80 divide-y divide-line overflow-y-auto">
        {shown.map((item) => (
          <UploadRow key={item.id} item={item} queue={queue} />
        ))}
      </ul>
      {items.length > maxRows && (
        <p className="border-t border-line px-5 py-2 text-muted">and {formatNumber(items.length - maxRows)} more</p>
      )}
    </section>
  );
}

function UploadRow({ item, queue }: { item: UploadItem; queue: UploadQueue }) {
  const { id, path, size, sent, phase, error } = item;
  const name = visibleName(path);
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-5 py-2">
      <div className="flex min-w-0 grow flex-col gap-1">
        <span className="flex min-w-0 items-baseline gap-2">
          <bdi className="min-w-0 truncate">{name}</bdi>
          <span className="shrink-0 text-[0.8125rem] text-muted">{formatSize(size)}</span>
        </span>
        {phase === 'sending' && (
          <progress
            aria-label={`Upload of ${name}`}
            max={size}
            {...(sent > 0 && { value: sent })}
            className="h-1 w-full accent-accent"
          />
        )}
        {phase === 'failed' && (
          <span className="text-danger">
            <Reason error={error} />
          </span>
        )}
        {phase === 'exists' && <span className="text-warn">A file with this name is there already.</span>}
      </div>
      {phase === 'exists' && (
        <Button small onClick={() => queue.again(id, true)}>
          Replace<span className="sr-only"> {name}</span>
        </Button>
      )}
      {phase === 'failed' && (
        <IconButton label={`Send ${name} again`} onClick={() => queue.again(id)} className="size-8!">
          <RotateCw aria-hidden className="size-4" />
        </IconButton>
      )}
      {phase === 'done' ? (
        <span className={cx('flex items-center gap-1.5 text-[0.8125rem] text-accent')}>
          <Check aria-hidden className="size-4" />
          Uploaded
        </span>
      ) : (
        <IconButton
          label={phase === 'exists' ? `Skip ${name}` : `Cancel the upload of ${name}`}
          onClick={() => queue.remove(id)}
          className="size-8!"
        >
          <X aria-hidden className="size-4" />
        </IconButton>
      )}
    </li>
  );
}

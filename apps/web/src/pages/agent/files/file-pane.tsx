import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Download, FileQuestion } from 'lucide-react';
import { hasCode } from '../../../api.ts';
import { buttonClass } from '../../../components/button.tsx';
import { cx } from '../../../components/cx.ts';
import { Markdown } from '../../../components/markdown.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../../components/states.tsx';
import { visibleName } from '../../../components/words/visible-text.ts';
import { useMay } from '../../../session.ts';
import { downloadAddress, folderOf, formatSize, nameOf } from './file-paths.ts';
import { isMarkdown, maxPictureBytes, maxTextBytes, pictureTypeOf } from './open-file.ts';
import type { OpenedFile } from './open-file.ts';
import { fileQuery } from './queries.ts';
import { filesRoute } from '../routes.ts';
import { TextEditor } from './editing/text-editor.tsx';

interface PaneProps {
  readonly agentId: string;
  readonly path: string;
}

/** One file: its preview where it has one, its text to edit, or what it is. */
export function FilePane({ agentId, path }: PaneProps) {
  const file = useQuery(fileQuery(agentId, path));
  const { view } = filesRoute.useSearch();
  const { data } = file;
  const canPreview = data !== undefined && (data.picture !== null || (data.text !== null && isMarkdown(path)));
  const hasBoth = canPreview && data.text !== null;
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="text-muted">{data === undefined ? ' ' : formatSize(data.size)}</span>
        <div className="flex flex-wrap items-center gap-2">
          {hasBoth && <ViewSwitch path={path} isSource={view === 'source'} />}
          <a href={downloadAddress(agentId, path)} download="" className={buttonClass('secondary', true)}>
            <Download aria-hidden className="size-4" />
            Download
          </a>
        </div>
      </div>
      {data === undefined ? (
        <NotShown path={path} error={file.error} isFetching={file.isFetching} retry={() => void file.refetch()} />
      ) : (
        <Contents agentId={agentId} path={path} file={data} isPreview={canPreview && !(hasBoth && view === 'source')} />
      )}
    </div>
  );
}

function ViewSwitch({ path, isSource }: { path: string; isSource: boolean }) {
  const look = (isOn: boolean): string =>
    cx(
      'inline-flex h-8 items-center px-3 text-[0.8125rem] font-medium',
      isOn ? 'bg-accent-soft text-accent' : 'hover:bg-hover',
    );
  return (
    <div
      role="group"
      aria-label="View"
      className="flex overflow-hidden rounded-control border border-control/50 bg-surface"
    >
      <Link
        from={filesRoute.fullPath}
        search={{ file: path }}
        aria-current={isSource ? undefined : 'true'}
        className={look(!isSource)}
      >
        Preview
      </Link>
      <Link
        from={filesRoute.fullPath}
        search={{ file: path, view: 'source' }}
        aria-current={isSource ? 'true' : undefined}
        className={look(isSource)}
      >
        Text
      </Link>
    </div>
  );
}

function Contents({ agentId, path, file, isPreview }: PaneProps & { file: OpenedFile; isPreview: boolean }) {
  const mayWrite = useMay('agents:write');
  const { text, picture, etag, size } = file;
  const card = 'rounded-card border border-line bg-surface shadow-card';
  if (isPreview && picture !== null) {
    return (
      <div className={cx(card, 'flex justify-center bg-sunken p-6')}>
        <img src={picture} alt={visibleName(nameOf(path))} className="max-h-[70dvh] max-w-full object-contain" />
      </div>
    );
  }
  if (isPreview && text !== null) {
    return (
      <div className={cx(card, 'overflow-x-auto px-5 py-4 sm:px-8 sm:py-6')}>
        <Markdown text={text} />
      </div>
    );
  }
  if (text !== null) return <TextEditor agentId={agentId} path={path} text={text} etag={etag} mayWrite={mayWrite} />;
  return (
    <div className={card}>
      <EmptyState Icon={FileQuestion} title="This file is not shown here">
        {reasonOf(path, size)} Download it to look at it.
      </EmptyState>
    </div>
  );
}

function reasonOf(path: string, size: number): string {
  const max = pictureTypeOf(path) === undefined ? maxTextBytes : maxPictureBytes;
  return size > max
    ? `It has ${formatSize(size)}; this page shows files of up to ${formatSize(max)}.`
    : 'It is neither text nor a picture that browsers know.';
}

interface NotShownProps {
  readonly path: string;
  readonly error: unknown;
  readonly isFetching: boolean;
  readonly retry: () => void;
}

function NotShown({ path, error, isFetching, retry }: NotShownProps) {
  const card = 'rounded-card border border-line bg-surface shadow-card';
  if (error === null) {
    return (
      <div role="status" className={cx(card, 'flex h-[calc(100dvh-24rem)] min-h-80 flex-col gap-2 p-4')}>
        <span className="sr-only">Loading…</span>
        <Skeleton className="w-2/3" />
        <Skeleton className="w-1/2" />
        <Skeleton className="w-3/4" />
      </div>
    );
  }
  if (hasCode(error, 'file_not_found')) {
    const folder = folderOf(path);
    return (
      <div className={card}>
        <EmptyState
          Icon={FileQuestion}
          title="This file is not there any more"
          action={
            <Link
              from={filesRoute.fullPath}
              search={folder === '' ? {} : { path: folder }}
              className={buttonClass('secondary')}
            >
              Show its folder
            </Link>
          }
        >
          It was removed or renamed since.
        </EmptyState>
      </div>
    );
  }
  return (
    <div className={card}>
      <ErrorState error={error} retry={retry} pending={isFetching} />
    </div>
  );
}

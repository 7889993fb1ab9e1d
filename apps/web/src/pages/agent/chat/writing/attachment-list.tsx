import { File as FileIcon, LoaderCircle, RotateCw, TriangleAlert, X } from 'lucide-react';
import { maxFiles } from '../files.ts';
import type { Attachment } from './use-attachments.ts';

interface AttachmentListProps {
  readonly attachments: readonly Attachment[];
  readonly tooMany: boolean;
  readonly onAgain: (attachment: Attachment) => void;
  readonly onRemove: (key: string) => void;
}

const Icons = { uploading: LoaderCircle, ready: FileIcon, failed: TriangleAlert } as const;

/** The files of a message that is being written. */
export function AttachmentList({ attachments, tooMany, onAgain, onRemove }: AttachmentListProps) {
  if (attachments.length === 0) return null;
  return (
    <div className="flex flex-col gap-1.5 px-3 pt-3">
      <ul aria-label="Files of this message" className="flex flex-wrap gap-2">
        {attachments.map((attachment) => {
          const { key, name, state, problem } = attachment;
          const Icon = Icons[state];
          return (
            <li
              key={key}
              className={`flex max-w-full items-center gap-1.5 rounded-control border px-2 py-1 text-[0.8125rem] ${state === 'failed' ? 'border-danger text-danger' : 'border-line bg-sunken'}`}
            >
              <Icon aria-hidden className={`size-3.5 shrink-0 ${state === 'uploading' ? 'animate-spin' : ''}`} />
              <span className="min-w-0">
                <bdi className="block max-w-56 truncate" title={name}>
                  {name}
                </bdi>
                {state === 'uploading' && <span className="sr-only">is being uploaded</span>}
                {problem !== undefined && <span className="block text-xs wrap-anywhere">{problem}</span>}
              </span>
              {state === 'failed' && (
                <SmallButton label={`Try ${name} again`} onClick={() => onAgain(attachment)} Icon={RotateCw} />
              )}
              <SmallButton label={`Remove ${name}`} onClick={() => onRemove(key)} Icon={X} />
            </li>
          );
        })}
      </ul>
      {tooMany && (
        <p role="alert" className="text-[0.8125rem] text-danger">
          A message can bring {maxFiles} files. The others were left out.
        </p>
      )}
    </div>
  );
}

function SmallButton({ label, onClick, Icon }: { label: string; onClick: () => void; Icon: typeof X }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onClick}
      className="flex size-6 shrink-0 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-ink"
    >
      <Icon aria-hidden className="size-3.5" />
    </button>
  );
}

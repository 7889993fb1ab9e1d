import { useRef, useState } from 'react';
import { explain } from '../../../../messages.ts';
import type { SentFile } from '../conversation.ts';
import { maxFileBytes, maxFiles, upload } from '../files.ts';

export interface Attachment {
  readonly key: string;
  readonly name: string;
  readonly state: 'uploading' | 'ready' | 'failed';
  /** Where it lies, once it is there. */
  readonly sent?: SentFile;
  readonly problem?: string;
  /** The file itself, to try again. */
  readonly file?: File;
}

/** The files of a message that is being written. They are uploaded at once. */
export function useAttachments(
  agentId: string,
  kept: readonly SentFile[],
  onReady: (files: readonly SentFile[]) => void,
) {
  const [attachments, setAttachments] = useState<readonly Attachment[]>(() =>
    kept.map((sent) => ({ key: sent.path, name: sent.name, state: 'ready', sent })),
  );
  const now = useRef(attachments);
  const [tooMany, setTooMany] = useState(false);

  const set = (next: readonly Attachment[]): void => {
    now.current = next;
    setAttachments(next);
    onReady(next.flatMap(({ sent }) => (sent === undefined ? [] : [sent])));
  };
  const change = (key: string, to: Partial<Attachment>): void =>
    set(now.current.map((one) => (one.key === key ? { ...one, ...to } : one)));

  const send = async (key: string, file: File): Promise<void> => {
    if (file.size > maxFileBytes) {
      change(key, {
        state: 'failed',
        problem: 'It is larger than 64 MiB. Put it into the workspace on the page Files.',
      });
      return;
    }
    change(key, { state: 'uploading' });
    try {
      change(key, { state: 'ready', sent: await upload(agentId, file) });
    } catch (error) {
      change(key, { state: 'failed', problem: explain(error) });
    }
  };

  const add = (files: Iterable<File>): void => {
    const given = [...files];
    const room = maxFiles - now.current.length;
    setTooMany(given.length > room);
    const fresh = given.slice(0, Math.max(0, room)).map((file) => ({
      key: crypto.getRandomValues(new Uint32Array(2)).join('-'),
      name: file.name,
      state: 'uploading' as const,
      file,
    }));
    set([...now.current, ...fresh]);
    for (const { key, file } of fresh) void send(key, file);
  };

  return {
    attachments,
    tooMany,
    add,
    again: ({ key, file }: Attachment): void => {
      if (file !== undefined) void send(key, file);
    },
    remove: (key: string): void => {
      setTooMany(false);
      set(now.current.filter((one) => one.key !== key));
    },
    clear: (): void => set([]),
  };
}

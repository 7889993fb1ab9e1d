import { ArrowUp, Paperclip, Square } from 'lucide-react';
import { useEffect, useId, useImperativeHandle, useRef, useState } from 'react';
import type { KeyboardEvent, Ref } from 'react';
import { Button, IconButton } from '../../../../components/button.tsx';
import { AttachmentList } from './attachment-list.tsx';
import type { SentFile } from '../conversation.ts';
import { readDraft, writeDraft } from './draft.ts';
import { useAttachments } from './use-attachments.ts';

export interface ComposerHandle {
  addFiles(files: Iterable<File>): void;
  /** Puts words into the field, and the cursor behind them. */
  write(text: string): void;
}

/** A message as it is sent. */
export interface Message {
  readonly said: string;
  readonly files: readonly SentFile[];
  /** Whom it is for; null: the agent itself. */
  readonly member: string | null;
}

export interface ComposerProps {
  readonly ref: Ref<ComposerHandle>;
  readonly agentId: string;
  readonly agentName: string;
  /** Where the draft is kept. */
  readonly draftKey: string;
  readonly members: readonly string[];
  /** The last addressee; null: the agent itself. */
  readonly member: string | null;
  readonly running: boolean;
  readonly hint: string | undefined;
  readonly onSend: (message: Message) => void;
  /** Undefined: the answer comes to another tab. */
  readonly onStop: (() => void) | undefined;
}

const maxChars = 100_000;

/** Where a message is written. Enter sends it, and Shift+Enter begins a line. Typed words stay until they are sent. */
export function Composer(props: ComposerProps) {
  const { agentName, running } = props;
  const { text, write, files, member, setMember, field, send, canSend, uploading } = useMessage(props);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const to = member ?? agentName;
  return (
    <form
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      className="rounded-card border border-control bg-surface shadow-card focus-within:border-accent"
    >
      <AttachmentList {...files} onAgain={files.again} onRemove={files.remove} />
      <textarea
        ref={field}
        aria-label={`Message to ${to}`}
        placeholder={`Message ${to}`}
        rows={1}
        maxLength={maxChars}
        value={text}
        dir="auto"
        onChange={(event) => write(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          const pasted = [...event.clipboardData.files];
          if (pasted.length === 0) return;
          event.preventDefault();
          files.add(pasted);
        }}
        className="field-sizing-content block max-h-60 min-h-11 w-full resize-none bg-transparent px-4 pt-3 pb-1 text-base outline-none placeholder:text-muted sm:text-sm"
      />
      <div className="flex items-center gap-2 px-2 pb-2">
        <AttachButton onFiles={files.add} />
        {props.members.length > 0 && (
          <Addressee name={agentName} members={props.members} member={member} onChange={setMember} />
        )}
        <p className="min-w-0 grow truncate text-xs text-muted max-sm:invisible">
          {uploading ? 'A file is on its way.' : (props.hint ?? 'Enter sends, Shift+Enter begins a line.')}
        </p>
        {running && props.onStop !== undefined ? (
          <Button small onClick={props.onStop}>
            <Square aria-hidden className="size-3.5 fill-current" />
            Stop
          </Button>
        ) : (
          <Button small variant="primary" type="submit" aria-disabled={!canSend}>
            <ArrowUp aria-hidden className="size-4" />
            Send
          </Button>
        )}
      </div>
    </form>
  );
}

/** The message that is being written: its words, its files, and whom it is for. */
function useMessage({ ref, agentId, draftKey, running, members, member: lastMember, onSend }: ComposerProps) {
  const [draft] = useState(() => readDraft(agentId, draftKey));
  const [text, setText] = useState(draft.text);
  const [chosen, setMember] = useState<string | null>();
  const now = useRef(draft);
  const field = useRef<HTMLTextAreaElement>(null);
  const keep = (part: Partial<typeof draft>): void => {
    now.current = { ...now.current, ...part };
    writeDraft(agentId, draftKey, now.current);
  };
  const files = useAttachments(agentId, draft.files, (ready) => keep({ files: ready }));
  const write = (value: string): void => {
    setText(value);
    keep({ text: value });
  };
  useImperativeHandle(ref, () => ({
    addFiles: files.add,
    write(value) {
      write(value);
      field.current?.focus();
    },
  }));
  // Whoever opens a conversation goes on typing. On a screen to touch that would open a keyboard over it.
  useEffect(() => {
    if (matchMedia('(pointer: coarse)').matches) return;
    field.current?.focus({ preventScroll: true });
    field.current?.setSelectionRange(maxChars, maxChars);
  }, []);

  const wanted = chosen === undefined ? lastMember : chosen;
  const member = wanted !== null && members.includes(wanted) ? wanted : null;
  const uploading = files.attachments.some(({ state }) => state === 'uploading');
  const ready = files.attachments.flatMap(({ sent }) => (sent === undefined ? [] : [sent]));
  const canSend = !running && !uploading && (text.trim() !== '' || ready.length > 0);
  const send = (): void => {
    if (!canSend) return;
    onSend({ said: text.trim(), files: ready, member });
    write('');
    files.clear();
    field.current?.focus();
  };
  return { text, write, files, member, setMember, field, send, canSend, uploading };
}

function AttachButton({ onFiles }: { onFiles: (files: Iterable<File>) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton label="Add files" onClick={() => input.current?.click()} className="size-8">
        <Paperclip aria-hidden className="size-4" />
      </IconButton>
      <input
        ref={input}
        type="file"
        multiple
        aria-label="Files for the workspace"
        tabIndex={-1}
        className="hidden"
        onChange={(event) => {
          onFiles(event.target.files ?? []);
          // The same file can be chosen again.
          event.target.value = '';
        }}
      />
    </>
  );
}

interface AddresseeProps {
  readonly name: string;
  readonly members: readonly string[];
  readonly member: string | null;
  readonly onChange: (member: string | null) => void;
}

/** The choice of an addressee: the agent, or one of its members. */
function Addressee({ name, members, member, onChange }: AddresseeProps) {
  const id = useId();
  return (
    <>
      <label htmlFor={id} className="text-xs text-muted">
        To
      </label>
      <select
        id={id}
        value={member ?? ''}
        onChange={(event) => onChange(event.target.value === '' ? null : event.target.value)}
        className="h-8 max-w-36 shrink-0 rounded-control sm:max-w-40 border border-control bg-surface px-1.5 text-[0.8125rem]"
      >
        <option value="">{name.slice(0, 60)}</option>
        {members.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </>
  );
}

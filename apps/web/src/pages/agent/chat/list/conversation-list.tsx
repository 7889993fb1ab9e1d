import { Link } from '@tanstack/react-router';
import { Hash, MessageSquare, Pencil, Plus, Trash2, User } from 'lucide-react';
import { useState } from 'react';
import { buttonClass, IconButton } from '../../../../components/button.tsx';
import { cx } from '../../../../components/cx.ts';
import { Time } from '../../../../components/time.tsx';
import { pathTo } from '../../../../paths.ts';
import { useMay } from '../../../../session.ts';
import { channelTitles } from '../../channels/channel-names.ts';
import type { ChannelConversation } from './channel-conversations.ts';
import type { ChatStore } from '../chat-store.ts';
import type { Conversation } from '../conversation.ts';
import { RemoveDialog, RenameDialog } from './conversation-dialogs.tsx';

interface ConversationListProps {
  readonly agentId: string;
  readonly store: ChatStore;
  readonly conversations: readonly Conversation[];
  readonly channels: readonly ChannelConversation[];
  readonly current: string | undefined;
  readonly onChosen?: () => void;
  /** Called when the conversation that is open was removed. */
  readonly onGone: () => void;
}

type Change = { readonly kind: 'rename' | 'remove'; readonly of: Conversation };

/** The conversations of this browser, and those of the channels. */
export function ConversationList(props: ConversationListProps) {
  const { agentId, store, conversations, channels, current, onChosen = () => undefined } = props;
  const [change, setChange] = useState<Change>();
  const maySpeak = useMay('agents:chat');
  const to = pathTo('/agents/$agentId/chat', agentId);
  return (
    <nav aria-label="Conversations" className="flex min-h-0 flex-col gap-4">
      {maySpeak && (
        <Link to={to} search={{}} onClick={onChosen} className={buttonClass('secondary')}>
          <Plus aria-hidden className="size-4" />
          New conversation
        </Link>
      )}
      {conversations.length > 0 && (
        <ul className="flex flex-col gap-0.5">
          {conversations.map((one) => (
            <Row
              key={one.id}
              of={one}
              to={to}
              isCurrent={one.id === current}
              onChosen={onChosen}
              onChange={(kind) => setChange({ kind, of: one })}
            />
          ))}
        </ul>
      )}
      {channels.length > 0 && <OnChannels to={to} channels={channels} current={current} onChosen={onChosen} />}
      <p className="px-2.5 text-xs text-muted">
        Conversations are kept in this browser until you sign out. The agent remembers them by itself.
      </p>
      {change?.kind === 'rename' && (
        <RenameDialog
          of={change.of}
          onClose={() => setChange(undefined)}
          onName={(name) => store.rename(change.of.id, name)}
        />
      )}
      {change?.kind === 'remove' && (
        <RemoveDialog
          of={change.of}
          onClose={() => setChange(undefined)}
          onRemove={() => {
            store.remove(change.of.id);
            if (change.of.id === current) props.onGone();
          }}
        />
      )}
    </nav>
  );
}

interface RowProps {
  readonly of: Conversation;
  readonly to: string;
  readonly isCurrent: boolean;
  readonly onChosen: () => void;
  readonly onChange: (kind: Change['kind']) => void;
}

function Row({ of: { id, name, at }, to, isCurrent, onChosen, onChange }: RowProps) {
  return (
    <li className={cx(rowLook, isCurrent ? activeLook : idleLook)}>
      <Link
        to={to}
        search={{ conversation: id }}
        onClick={onChosen}
        aria-current={isCurrent ? 'page' : undefined}
        className="flex min-w-0 grow items-center gap-2 rounded-control py-2 pl-2.5"
      >
        <MessageSquare aria-hidden className="size-3.5 shrink-0" />
        <span className="flex min-w-0 flex-col">
          <bdi className="truncate">{name}</bdi>
          <span className="text-xs text-muted">
            <Time value={at} />
          </span>
        </span>
      </Link>
      <RowButton label={`Rename ${name}`} Icon={Pencil} onClick={() => onChange('rename')} />
      <RowButton label={`Remove ${name}`} Icon={Trash2} onClick={() => onChange('remove')} />
    </li>
  );
}

const rowLook = 'group flex min-w-0 items-center gap-0.5 rounded-control pr-1 text-[0.8125rem]';
const activeLook = 'bg-accent-soft font-medium text-accent';
const idleLook = 'text-muted hover:bg-hover hover:text-ink';

function RowButton({ label, Icon, onClick }: { label: string; Icon: typeof Pencil; onClick: () => void }) {
  return (
    <IconButton
      label={label}
      onClick={onClick}
      className="size-7! opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100"
    >
      <Icon aria-hidden className="size-3.5" />
    </IconButton>
  );
}

interface OnChannelsProps extends Pick<ConversationListProps, 'channels' | 'current'> {
  readonly to: string;
  readonly onChosen: () => void;
}

function OnChannels({ to, channels, current, onChosen }: OnChannelsProps) {
  return (
    <div className="flex flex-col gap-1">
      <p className="px-2.5 text-xs font-medium text-muted">On channels</p>
      <ul className="flex flex-col gap-0.5">
        {channels.map(({ key, channel, id, kind, name, at }) => {
          const Icon = kind === 'group' ? Hash : User;
          return (
            <li key={key} className={cx(rowLook, key === current ? activeLook : idleLook)}>
              <Link
                to={to}
                search={{ channel, conversation: id }}
                onClick={onChosen}
                aria-current={key === current ? 'page' : undefined}
                className="flex min-w-0 grow items-center gap-2 rounded-control py-2 pl-2.5"
              >
                <Icon aria-hidden className="size-3.5 shrink-0" />
                <span className="flex min-w-0 flex-col">
                  <bdi className="truncate">{name}</bdi>
                  <span className="text-xs text-muted">
                    {channelTitles[channel]} · <Time value={at} />
                  </span>
                </span>
              </Link>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

import { Link } from '@tanstack/react-router';
import { Markdown } from '../../../components/markdown.tsx';
import { withoutTurning } from '../../../components/markdown/bounds.ts';
import type { ShowFile } from '../../../components/markdown/safe-link.tsx';
import { Notice } from '../../../components/notice.tsx';
import { visibleName } from '../../../components/words/visible-text.ts';
import { pathTo } from '../../../paths.ts';
import { channelTitles } from '../channels/channel-names.ts';
import type { ChannelConversation } from './list/channel-conversations.ts';
import { Said } from './turn-view.tsx';

interface ChannelConversationProps {
  readonly agentId: string;
  readonly agentName: string;
  readonly conversation: ChannelConversation;
  readonly file: ShowFile;
}

/** A conversation of people with the agent on a channel. It goes on there. */
export function ChannelConversationView({ agentId, agentName, conversation, file }: ChannelConversationProps) {
  const { channel, messages } = conversation;
  return (
    <>
      <ol aria-label="Conversation" className="flex flex-col gap-8">
        {messages.map((message) => (
          <li key={message.id} className="flex flex-col gap-4">
            <Said
              text={withoutTurning(message.text ?? '')}
              at={message.received_at}
              name={visibleName(message.sender.name.slice(0, 200)) || message.sender.id}
            />
            <div className="flex min-w-0 flex-col gap-2">
              <p className="text-xs font-medium text-muted">
                <bdi>{agentName}</bdi>
              </p>
              {message.answer != null && <Markdown text={message.answer} file={file} />}
              {message.state === 'received' && <p className="text-muted">Waits for its answer.</p>}
              {message.reason !== null && (
                <p className="wrap-anywhere text-muted">{withoutTurning(message.reason.slice(0, 500))}</p>
              )}
            </div>
          </li>
        ))}
      </ol>
      <Notice kind="info">
        This conversation is on {channelTitles[channel]} and goes on there.{' '}
        <Link
          to={pathTo('/agents/$agentId/messages', agentId)}
          search={{ channel }}
          className="text-accent underline underline-offset-2"
        >
          See its messages
        </Link>
      </Notice>
    </>
  );
}

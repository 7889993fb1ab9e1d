import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Agent } from '@lodge/sdk';
import { MessagesSquare } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import type { ShowFile } from '../../../components/markdown/safe-link.tsx';
import { TabPage } from '../../../components/page.tsx';
import { EmptyState } from '../../../components/states.tsx';
import { useAgent } from '../queries.ts';
import { ChannelConversationView } from './channel-conversation-view.tsx';
import { channelMessagesQuery, conversationsOf, keyOf } from './list/channel-conversations.ts';
import type { ChannelConversation } from './list/channel-conversations.ts';
import { ConversationList } from './list/conversation-list.tsx';
import { ConversationView } from './conversation-view.tsx';
import { useFileLinks } from './file-link.tsx';
import { useChat } from './use-chat.ts';

const route = getRouteApi('/app/agents/$agentId/chat');

/** Conversations with the agent: a list of them, and the one that is open. */
export function ChatPage() {
  const agent = useAgent();
  const { conversation: id, channel, member } = route.useSearch();
  const navigate = route.useNavigate();
  const { store, state } = useChat(agent.id, channel === undefined ? id : undefined);
  const [listed, setListed] = useState(false);
  const channels = conversationsOf(useQuery(channelMessagesQuery(agent.id)).data ?? []);
  const current = channel === undefined ? id : keyOf(channel, id ?? '');
  const file = useFileLinks(agent.id);
  const list = (
    <ConversationList
      agentId={agent.id}
      store={store}
      conversations={state.conversations}
      channels={channels}
      current={current}
      onChosen={() => setListed(false)}
      onGone={() => void navigate({ search: {}, replace: true })}
    />
  );
  return (
    <TabPage
      title="Chat"
      width="wide"
      actions={
        <Button small className="lg:hidden" onClick={() => setListed(true)}>
          <MessagesSquare aria-hidden className="size-4" />
          Conversations
        </Button>
      }
    >
      <div className="grid gap-8 lg:grid-cols-[15rem_minmax(0,1fr)]">
        <div className="sticky top-6 max-h-[calc(100dvh-3rem)] self-start overflow-y-auto max-lg:hidden">{list}</div>
        <div className="flex w-full max-w-4xl min-w-0 flex-col gap-6">
          {channel === undefined ? (
            <ConversationView
              key={id ?? `new:${member ?? ''}`}
              agent={agent}
              store={store}
              state={state}
              id={id}
              member={member}
              file={file}
              onBegun={(begun) => void navigate({ search: { conversation: begun }, replace: true })}
            />
          ) : (
            <OnChannel agent={agent} conversation={channels.find(({ key }) => key === current)} file={file} />
          )}
        </div>
      </div>
      {listed && (
        <Dialog title="Conversations" onClose={() => setListed(false)}>
          {list}
        </Dialog>
      )}
    </TabPage>
  );
}

interface OnChannelProps {
  readonly agent: Agent;
  readonly conversation: ChannelConversation | undefined;
  readonly file: ShowFile;
}

function OnChannel({ agent, conversation, file }: OnChannelProps) {
  if (conversation !== undefined) {
    return (
      <ChannelConversationView agentId={agent.id} agentName={agent.name} conversation={conversation} file={file} />
    );
  }
  return (
    <EmptyState Icon={MessagesSquare} title="Nothing was said there lately">
      The newest hundred messages of the channels are looked at. Older ones are on the page Messages.
    </EmptyState>
  );
}

import { getRouteApi, Link } from '@tanstack/react-router';
import { Inbox } from 'lucide-react';
import { lodge } from '../../../api.ts';
import { buttonClass } from '../../../components/button.tsx';
import { FilterSelect } from '../../../components/form/filter-select.tsx';
import { TabPage } from '../../../components/page.tsx';
import { Paged, usePages } from '../../../components/shown/paged.tsx';
import { EmptyState } from '../../../components/states.tsx';
import { pathTo } from '../../../paths.ts';
import { channelNames, channelTitles } from '../channels/channel-names.ts';
import { useMay } from '../../../session.ts';
import { useAgent } from '../queries.ts';
import { isChannel, isState, messageStates, stateWords } from './filters.ts';
import type { MessageFilters } from './filters.ts';
import { MessageCard } from './message-card.tsx';

const route = getRouteApi('/app/agents/$agentId/messages');
const pageSize = 30;

/** Lists the messages of the agent's channels, with their answers. */
export function MessagesPage() {
  const { id } = useAgent();
  const filters = route.useSearch();
  const query = usePages(['agent', id, 'messages', 'list', filters], (cursor) =>
    lodge.messages.list(id, { ...filters, limit: pageSize, content: true, ...(cursor !== undefined && { cursor }) }),
  );
  return (
    <TabPage
      title="Messages"
      description="What people wrote to the agent on its channels, and what it answered."
      width="wide"
      actions={<Filters filters={filters} />}
    >
      <div className="rounded-card border border-line bg-surface shadow-card">
        <Paged query={query}>
          {(messages) =>
            messages.length === 0 ? (
              <NoMessages agentId={id} isFiltered={filters.channel !== undefined || filters.state !== undefined} />
            ) : (
              <ol aria-label="Messages" className="divide-y divide-line">
                {messages.map((message) => (
                  <MessageCard key={message.id} message={message} />
                ))}
              </ol>
            )
          }
        </Paged>
      </div>
    </TabPage>
  );
}

function Filters({ filters }: { filters: MessageFilters }) {
  const navigate = route.useNavigate();
  const { channel, state } = filters;
  return (
    <div role="group" aria-label="Filters" className="flex flex-wrap gap-2">
      <FilterSelect
        label="Channel"
        all="All channels"
        value={channel}
        options={channelNames.map((name) => [name, channelTitles[name]])}
        onChange={(value) =>
          void navigate({ search: { ...(state && { state }), ...(isChannel(value) && { channel: value }) } })
        }
      />
      <FilterSelect
        label="State"
        all="All states"
        value={state}
        options={messageStates.map((name) => [name, stateWords[name].label])}
        onChange={(value) =>
          void navigate({ search: { ...(channel && { channel }), ...(isState(value) && { state: value }) } })
        }
      />
    </div>
  );
}

function NoMessages({ agentId, isFiltered }: { agentId: string; isFiltered: boolean }) {
  const mayConnect = useMay('agents:write');
  if (isFiltered) {
    return (
      <EmptyState
        Icon={Inbox}
        title="No message is like that"
        action={
          <Link to={pathTo('/agents/$agentId/messages', agentId)} className={buttonClass('secondary')}>
            Show all messages
          </Link>
        }
      />
    );
  }
  return (
    <EmptyState
      Icon={Inbox}
      title="Nothing came yet"
      action={
        mayConnect && (
          <Link to={pathTo('/agents/$agentId/channels', agentId)} className={buttonClass('primary')}>
            Connect a channel
          </Link>
        )
      }
    >
      Messages from Telegram, Slack, WhatsApp, Discord and Gmail are listed here, each with its answer.
    </EmptyState>
  );
}

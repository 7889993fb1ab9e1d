import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { backLinkClass, BackWords } from '../../../components/shown/links.tsx';
import { TabPage } from '../../../components/page.tsx';
import { LoadedCard } from '../../../components/shown/cards.tsx';
import { useStepFocus } from '../../../components/form/focus.ts';
import { useMay } from '../../../session.ts';
import { useAgent } from '../queries.ts';
import { ChannelDetail } from './channel-detail.tsx';
import { ChannelList } from './channel-list.tsx';
import { channelTitles } from './channel-names.ts';
import type { ChannelName } from './channel-names.ts';
import { channelsQuery } from './queries.ts';
import { channelsRoute } from '../routes.ts';

export function ChannelsPage() {
  const { channel } = channelsRoute.useSearch();
  return channel === undefined ? <AllChannels /> : <OneChannel key={channel} name={channel} />;
}

function AllChannels() {
  useStepFocus();
  const { id } = useAgent();
  const channels = useQuery(channelsQuery(id));
  return (
    <TabPage
      width="wide"
      title="Channels"
      description="Where people write to the agent. Lodge holds the connections on the host: no token enters the agent’s machine, and a message wakes it."
    >
      <LoadedCard query={channels}>{(data) => <ChannelList agentId={id} channels={data} />}</LoadedCard>
    </TabPage>
  );
}

function OneChannel({ name }: { readonly name: ChannelName }) {
  useStepFocus();
  const { id } = useAgent();
  const mayChange = useMay('agents:write');
  const channels = useQuery(channelsQuery(id));
  const navigate = useNavigate();
  return (
    <TabPage
      title={channelTitles[name]}
      actions={
        <Link to={channelsRoute.to} params={{ agentId: id }} search={{}} className={backLinkClass}>
          <BackWords>All channels</BackWords>
        </Link>
      }
    >
      <LoadedCard query={channels}>
        {(data) => (
          <ChannelDetail
            agentId={id}
            name={name}
            channel={data.find((channel) => channel.channel === name)}
            mayChange={mayChange}
            onRemoved={() => void navigate({ to: channelsRoute.to, params: { agentId: id }, search: {} })}
          />
        )}
      </LoadedCard>
    </TabPage>
  );
}

import { queryOptions } from '@tanstack/react-query';
import type { Approval, Channel, PutChannel, TestChannel } from '@lodge/sdk';
import { change, list, lodge } from '../../../api.ts';
import type { ChannelName } from './channel-names.ts';

export const channelsQuery = (agentId: string) =>
  queryOptions({ queryKey: ['agent', agentId, 'channels'], queryFn: () => list(lodge.channels.list(agentId)) });

/** Most people shown at once; a channel keeps some hundred who wait. */
export const shownApprovals = 50;

export const approvalsQuery = (agentId: string, channel: ChannelName, state: Approval['state']) =>
  queryOptions({
    queryKey: ['agent', agentId, 'approvals', channel, state],
    queryFn: () => list(lodge.channels.approvals(agentId, channel, { state })),
  });

export const channelChanges = (agentId: string, channel: ChannelName) => ({
  put: (body: PutChannel, verify = true) =>
    change(() => lodge.channels.put(agentId, channel, body, verify ? {} : { query: { verify: false } })),
  restart: () => change(() => lodge.channels.restart(agentId, channel)),
  test: (body: TestChannel = {}) => change(() => lodge.channels.test(agentId, channel, body)),
  remove: () => change(() => lodge.channels.delete(agentId, channel)),
  decide: (code: string, action: 'approve' | 'deny') =>
    change(() => lodge.channels.decide(agentId, channel, { code, action })),
});

/** The settings that a PUT must repeat, because it replaces all but the secrets. */
export const keptOf = ({ access, enabled }: Channel): PutChannel => ({ access, enabled });

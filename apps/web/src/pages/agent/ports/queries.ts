import { queryOptions } from '@tanstack/react-query';
import type { CreateLink, PublishPort } from '@lodge/sdk';
import { change, list, lodge } from '../../../api.ts';

export const portsQuery = (agentId: string) =>
  queryOptions({ queryKey: ['agent', agentId, 'ports'], queryFn: () => list(lodge.ports.list(agentId)) });

export const portChanges = (agentId: string) => ({
  publish: (body: PublishPort) => change(() => lodge.ports.publish(agentId, body)),
  unpublish: (port: number) => change(() => lodge.ports.unpublish(agentId, port)),
  link: (body: CreateLink) => change(() => lodge.links.create(agentId, body)),
});

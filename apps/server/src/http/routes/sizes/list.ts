import { SizeList } from '@lodge/contract';
import { defaultSize, sizeNames } from '@lodge/domain';
import { machineOf } from '../../reply/agent-record.ts';
import type { App } from '../../app-types.ts';

const schema = {
  operationId: 'listSizes',
  tags: ['Service'],
  summary: 'List machine sizes',
  response: { 200: { ...SizeList, 'x-response-description': 'All machine sizes.' } },
};

const list = {
  object: 'list' as const,
  data: sizeNames.map((id) => ({ object: 'size' as const, id, ...machineOf(id), default: id === defaultSize })),
  has_more: false as const,
  next_cursor: null,
};

export function listSizesRoute(app: App): void {
  app.route({ method: 'GET', url: '/v1/sizes', schema, handler: async () => list });
}

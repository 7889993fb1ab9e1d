import { Refusal } from '@lodge/domain';
import { DeleteFileHeaders, DeleteFileQuery, FileDeleted, FileParams, isSet } from '@lodge/contract';
import type { App } from '../../app-types.ts';
import type { GuestAccess } from '../../needs.ts';
import { matchOf } from './parts/conditions.ts';
import { filePath } from './parts/file.ts';
import { ofGuest } from '../../guest/guest-error.ts';
import { liveGuest } from '../../guest/live-guest.ts';
import { fileErrors, transferMs } from './shared.ts';

const schema = {
  operationId: 'deleteAgentFile',
  tags: ['Files'],
  summary: "Delete a file or folder of an agent's workspace",
  description: 'Of a symbolic link the link itself goes. A folder that is not empty needs `recursive=true`.',
  params: FileParams,
  headers: DeleteFileHeaders,
  querystring: DeleteFileQuery,
  response: { 200: { description: 'It is gone.', content: { 'application/json': { schema: FileDeleted } } } },
};
const config = { rate: 'calls', scopes: ['agents:write'], errors: [...fileErrors, 'precondition_failed'] } as const;

export function deleteFileRoute(app: App, context: GuestAccess): void {
  app.route({
    method: 'DELETE',
    url: '/v1/agents/:id/files/*',
    schema,
    config,
    handler: async (request, reply) => {
      const path = filePath(request);
      if (path === '') throw new Refusal('invalid_request', 'path must name a file or folder.');
      const { guest, signal } = await liveGuest(context, request, reply, transferMs);
      const match = matchOf(request.headers['if-match']);
      const how = { recursive: isSet(request.query.recursive), ...(match !== undefined && { match }) };
      await ofGuest(guest.workspace.remove(path, how, { signal }));
      return { object: 'file.deleted' as const, path, deleted: true as const };
    },
  });
}

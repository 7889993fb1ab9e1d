import { Refusal } from '@lodge/domain';
import { AgentFile, FinishUpload, Upload, UploadDeleted, WriteFileHeaders } from '@lodge/contract';
import type { App } from '../../app-types.ts';
import { ofGuest } from '../../guest/guest-error.ts';
import { liveGuest } from '../../guest/live-guest.ts';
import type { GuestAccess } from '../../needs.ts';
import { conditionsOf } from '../files/parts/conditions.ts';
import { etagOf, fileRecord, namedPath } from '../files/parts/file.ts';
import { transferMs } from '../files/shared.ts';
import { uploadPartRoute } from './part.ts';
import { uploadOf, errors, shared, url } from './shared.ts';

/** `PATCH`, `GET`, `POST` and `DELETE /v1/agents/:id/uploads/:upload`. */
export function uploadRoutes(app: App, context: GuestAccess): void {
  uploadPartRoute(app, context);
  stateRoute(app, context);
  finishRoute(app, context);
  removeRoute(app, context);
}

function stateRoute(app: App, context: GuestAccess): void {
  app.route({
    method: 'GET',
    url,
    schema: {
      ...shared,
      operationId: 'getAgentUpload',
      summary: 'Read how much of an upload has come',
      description: 'After a cut the next part begins at `offset`.',
      response: { 200: { ...Upload, 'x-response-description': 'What is on the disk.' } },
    },
    config: { rate: 'calls', scopes: ['agents:read'], wakeScope: 'agents:write', errors },
    handler: async (request, reply) => {
      const upload = await uploadOf(context, request);
      const { guest, signal } = await liveGuest(context, request, reply, transferMs);
      const { size } = await ofGuest(guest.uploads.state(upload, { signal }));
      return { object: 'upload' as const, id: upload, offset: size };
    },
  });
}

function finishRoute(app: App, context: GuestAccess): void {
  app.route({
    method: 'POST',
    url,
    schema: {
      ...shared,
      operationId: 'finishAgentUpload',
      summary: 'Put an upload in its place',
      description:
        "All parts together become a file of the agent's workspace, in one step: before it the path is as it was. Folders on the way are made. The upload is no more then.",
      headers: WriteFileHeaders,
      body: FinishUpload,
      response: {
        200: { ...AgentFile, 'x-response-description': 'It was there before.' },
        201: { ...AgentFile, 'x-response-description': 'It is new.' },
      },
    },
    config: { rate: 'calls', scopes: ['agents:write'], errors: [...errors, 'disk_full', 'precondition_failed'] },
    handler: async (request, reply) => {
      const { path: given, size } = request.body;
      const path = namedPath(given);
      if (path === '') throw new Refusal('invalid_request', 'path must name a file.');
      const upload = await uploadOf(context, request);
      const conditions = conditionsOf(request.headers);
      const { guest, signal } = await liveGuest(context, request, reply, transferMs);
      const file = { path, size, ...conditions };
      const { created, entry } = await ofGuest(guest.uploads.finish(upload, file, { signal }));
      return reply
        .code(created ? 201 : 200)
        .header('etag', etagOf(entry))
        .send(fileRecord(path, entry));
    },
  });
}

function removeRoute(app: App, context: GuestAccess): void {
  app.route({
    method: 'DELETE',
    url,
    schema: {
      ...shared,
      operationId: 'deleteAgentUpload',
      summary: 'Give up an upload',
      description: 'What has come of it is removed. One to which nothing comes for a day is removed by itself.',
      response: { 200: { ...UploadDeleted, 'x-response-description': 'Nothing of it is there.' } },
    },
    config: { rate: 'calls', scopes: ['agents:write'], errors },
    handler: async (request, reply) => {
      const upload = await uploadOf(context, request);
      const { guest, signal } = await liveGuest(context, request, reply, transferMs);
      await ofGuest(guest.uploads.remove(upload, { signal }));
      return { object: 'upload.deleted' as const, id: upload, deleted: true as const };
    },
  });
}

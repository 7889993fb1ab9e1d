import { Refusal } from '@lodge/domain';
import { Upload, UploadPartHeaders, maxFileBytes, maxUploadBytes } from '@lodge/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../app-types.ts';
import { ofGuest } from '../../guest/guest-error.ts';
import { liveGuest } from '../../guest/live-guest.ts';
import type { LiveGuest } from '../../guest/live-guest.ts';
import type { GuestAccess } from '../../needs.ts';
import { bodyOf } from '../files/parts/body.ts';
import { transferMs } from '../files/shared.ts';
import { uploadOf, errors, shared, url } from './shared.ts';

const schema = {
  ...shared,
  operationId: 'uploadAgentFilePart',
  summary: "Upload a part of a file to an agent's machine",
  description:
    'For files of any size up to 64 GiB. The body is the next part, up to 64 MiB, and on the disk when the reply comes. The bytes that came before a cut stay. A part that does not begin where the upload ends is a 409, whose header `Upload-Offset` says where that is. An agent has at most 32 unfinished uploads; one that fills the disk is removed.',
  headers: UploadPartHeaders,
  response: { 200: { ...Upload, 'x-response-description': 'The upload, with the part.' } },
};
const config = {
  rate: 'calls',
  scopes: ['agents:write'],
  bytes: true,
  errors: [...errors, 'disk_full', 'request_too_large', 'unsupported_media_type'],
} as const;

/** Registers in a separate scope, in which a body of any type is an unread stream. */
export function uploadPartRoute(app: App, context: GuestAccess): void {
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body));
    scope.route({
      method: 'PATCH',
      url,
      bodyLimit: maxFileBytes,
      schema,
      config,
      handler: async (request, reply) => {
        const upload = await uploadOf(context, request);
        const offset = Number(request.headers['upload-offset']);
        const { size } = await append(context, request, reply, { upload, offset });
        return { object: 'upload' as const, id: upload, offset: size };
      },
    });
  });
}

async function append(
  context: GuestAccess,
  request: FastifyRequest,
  reply: FastifyReply,
  { upload, offset }: { readonly upload: string; readonly offset: number },
) {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > maxFileBytes) throw new Refusal('request_too_large', 'A part may have at most 64 MiB.');
  if (offset + length > maxUploadBytes) throw new Refusal('request_too_large', 'A file may have at most 64 GiB.');
  const take = bodyOf(request);
  const live = await liveGuest(context, request, reply, transferMs);
  const { guest, signal } = live;
  return ofGuest(guest.uploads.append(upload, offset, take(), { signal })).catch(async (error: unknown) => {
    throw await withOffset(error, live, upload, reply);
  });
}

/** Adds where the upload ends to the refusal of a part that begins elsewhere. */
async function withOffset(
  error: unknown,
  { guest, signal }: LiveGuest,
  upload: string,
  reply: FastifyReply,
): Promise<unknown> {
  if (!(error instanceof Refusal) || error.code !== 'file_conflict') return error;
  const { size } = await ofGuest(guest.uploads.state(upload, { signal }));
  reply.header('upload-offset', size);
  return error;
}

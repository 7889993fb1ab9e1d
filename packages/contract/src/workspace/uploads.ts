import { Type } from 'typebox';
import type { Static } from 'typebox';
import { ChatQuery } from '../agents/agent-requests.ts';
import { patterns } from '../text.ts';

/** Largest file that comes in parts, bytes. */
export const maxUploadBytes = 64 * 1024 * 1024 * 1024;

const id = Type.String({
  pattern: patterns.uploadId,
  description:
    'An id that you choose for one file of this agent, 16 to 64 letters, digits, `_` and `-`. A hash of what is sent and where it goes finds the upload again after a crash of your own.',
  examples: ['9f86d081884c7d659a2feaa0c55ad015'],
});

export const UploadParams = Type.Object({
  id: Type.String({ pattern: patterns.agentId, description: "The agent's id.", examples: ['k7d2m9q4x1ab'] }),
  upload: id,
});

/** A file that is sent in parts, as far as it has come. */
export const Upload = Type.Object(
  {
    object: Type.Literal('upload'),
    id,
    offset: Type.Integer({
      minimum: 0,
      description: "Bytes that are on the agent's disk: where the next part begins. 0 where nothing has come.",
      examples: [67_108_864],
    }),
  },
  { title: 'Upload', additionalProperties: false },
);
export type Upload = Static<typeof Upload>;

export const UploadPartHeaders = Type.Object({
  'upload-offset': Type.String({
    pattern: patterns.bytes,
    description: 'Where the part begins: the bytes that have come before it.',
    examples: ['0'],
  }),
});

export const UploadQuery = Type.Object({ wake: ChatQuery.properties.wake }, { additionalProperties: false });

export const FinishUpload = Type.Object(
  {
    path: Type.String({
      minLength: 1,
      maxLength: 4096,
      pattern: patterns.text,
      description: 'Where the file goes in the workspace; no `.` and `..`.',
      examples: ['data/model.bin'],
    }),
    size: Type.Integer({
      minimum: 0,
      maximum: maxUploadBytes,
      description: 'Bytes of the whole file. If others have come, nothing is done and 409 says so.',
      examples: [1_073_741_824],
    }),
  },
  {
    title: 'FinishUpload',
    additionalProperties: false,
    examples: [{ path: 'data/model.bin', size: 1_073_741_824 }],
  },
);

export const UploadDeleted = Type.Object(
  { object: Type.Literal('upload.deleted'), id, deleted: Type.Literal(true) },
  { title: 'UploadDeleted', additionalProperties: false },
);

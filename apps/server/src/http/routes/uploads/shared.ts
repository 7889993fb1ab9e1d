import { Refusal } from '@lodge/domain';
import { UploadParams, UploadQuery, patterns, patternMeanings } from '@lodge/contract';
import type { FastifyRequest } from 'fastify';
import type { GuestAccess } from '../../needs.ts';
import { checkAgentId } from '../../reply/agent-record.ts';
import { fileErrors } from '../files/shared.ts';

export const url = '/v1/agents/:id/uploads/:upload';
export const shared = { tags: ['Files'], params: UploadParams, querystring: UploadQuery };
export const errors = [...fileErrors] as const;

const uploadId = new RegExp(patterns.uploadId);

/** The upload that a request's path names. An agent that is not there comes before an id that can be none. */
export async function uploadOf({ agents }: GuestAccess, { params, principal }: FastifyRequest): Promise<string> {
  const { id, upload } = params as { readonly id: string; readonly upload: string };
  checkAgentId(id);
  if (uploadId.test(upload)) return upload;
  await agents.get(principal.accountId, id);
  throw new Refusal('invalid_request', `upload ${patternMeanings[patterns.uploadId]}.`);
}

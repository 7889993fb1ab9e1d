import type { Json } from '@lodge/domain';
import { invalidRequest } from '../call/call-error.ts';
import type { JsonBody } from '../json/body.ts';
import { anthropic } from './anthropic.ts';
import { google } from './google.ts';
import { openai } from './openai.ts';
import { openaiResponses } from './openai-responses.ts';
import { defaultModel } from './wire.ts';
import type { Asked, Wire } from './wire.ts';

export const wires: readonly Wire[] = [openai, openaiResponses, anthropic, google];

/** The kind of a guest's request. `wire` is there in any case: a refusal has its shape. */
export type GuestRequest =
  | { readonly wire: Wire; readonly kind: 'call'; readonly asked: Asked }
  | { readonly wire: Wire; readonly kind: 'models'; readonly models: Json }
  | { readonly wire: Wire; readonly kind: 'none' };

/** The wire that a path is shaped like, also where there is nothing. */
export function wireOf(path: string): Wire {
  return wires.find(({ path: own }) => path.startsWith(own.slice(0, own.indexOf('/', 1) + 1))) ?? openai;
}

/** The allow-list of what guests may ask: exact paths, with nothing resolved or decoded but the name of a model. */
export function guestRequest(method: string | undefined, url: string): GuestRequest {
  const [path = '', ...rest] = url.split('?');
  const wire = wireOf(path);
  if (method === 'GET' && Object.hasOwn(lists, path)) return { wire, kind: 'models', models: lists[path]! };
  if (method !== 'POST') return { wire, kind: 'none' };
  const query = new URLSearchParams(rest.join('?'));
  for (const candidate of wires) {
    const asked = candidate.ask(path, query);
    if (asked) return { wire: candidate, kind: 'call', asked };
  }
  return { wire, kind: 'none' };
}

/** The one model of the lists stands for the agent's own. */
const openaiModel = { id: defaultModel, object: 'model', created: 0, owned_by: 'lodge' };
const anthropicModel = {
  type: 'model',
  id: defaultModel,
  display_name: defaultModel,
  created_at: '1970-01-01T00:00:00Z',
};
const googleModel = {
  name: `models/${defaultModel}`,
  version: '1',
  displayName: defaultModel,
  supportedGenerationMethods: ['generateContent', 'countTokens'],
};
const lists: Readonly<Record<string, Json>> = {
  '/openai/v1/models': { object: 'list', data: [openaiModel] },
  [`/openai/v1/models/${defaultModel}`]: openaiModel,
  '/anthropic/v1/models': {
    data: [anthropicModel],
    has_more: false,
    first_id: defaultModel,
    last_id: defaultModel,
  },
  [`/anthropic/v1/models/${defaultModel}`]: anthropicModel,
  '/google/v1beta/models': { models: [googleModel] },
  [`/google/v1beta/models/${defaultModel}`]: googleModel,
};

/** The model a request names, where its API has that. */
export function modelOf(asked: Asked, body: JsonBody): string {
  const model = asked.model ?? body.value('model');
  if (typeof model !== 'string') throw invalidRequest('invalid_model', 'model must be a text.');
  return model;
}

import { Type } from 'typebox';
import type { Static } from 'typebox';
import { AgentChat, ModelChat, openAiObject } from './chat.ts';
import { ErrorBody } from '../errors.ts';
import { jsonText, namedEvent, streamOf } from '../events/stream.ts';
import { nullable, patterns } from '../text.ts';

const { stream, user } = AgentChat.properties;

const responseFields = {
  input: Type.Unsafe<string | readonly Readonly<Record<string, unknown>>[]>({
    anyOf: [
      { type: 'string', maxLength: 1024 * 1024, pattern: patterns.text },
      { type: 'array', minItems: 1, items: openAiObject('ResponseItem', "OpenAI's input item.") },
    ],
    description: "OpenAI's input: a text, or items. In a conversation that goes on only the new ones are needed.",
    examples: ['Hello'],
  }),
  stream,
  user,
  previous_response_id: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        pattern: patterns.token,
        description:
          'Goes on with the conversation of that response, which must be one of the same agent or member; wins over `user`. The conversation goes on where it is by now.',
      }),
    ),
  ),
};

/** OpenAI's request for a response from one agent. Unknown fields are passed to the agent unchanged. */
export const AgentResponseRequest = Type.Object(
  { ...responseFields, model: AgentChat.properties.model },
  { title: 'AgentResponseRequest', additionalProperties: true, examples: [{ input: 'Hello' }] },
);
export type AgentResponseRequest = Static<typeof AgentResponseRequest>;

/** The same request; `model` names the agent. */
export const ModelResponseRequest = Type.Object(
  { ...responseFields, model: ModelChat.properties.model },
  { title: 'ModelResponseRequest', additionalProperties: true, examples: [{ model: 'k7d2m9q4x1ab', input: 'Hello' }] },
);

/** OpenAI's response, as the agent's runtime gives it. */
export const AgentResponse = Type.Object(
  {
    id: Type.String({ description: 'For `previous_response_id`.' }),
    object: Type.Literal('response'),
    created_at: Type.Integer(),
    status: Type.String(),
    model: Type.String({ description: "The agent's id, or `<agent id>/<member>`." }),
    output: Type.Array(openAiObject('ResponseOutput', "OpenAI's output item.")),
    usage: Type.Object(
      { input_tokens: Type.Integer(), output_tokens: Type.Integer(), total_tokens: Type.Integer() },
      { additionalProperties: true, description: 'Model usage of the turn, all its model calls added up.' },
    ),
  },
  {
    title: 'AgentResponse',
    additionalProperties: true,
    examples: [
      {
        id: 'resp_1',
        object: 'response',
        created_at: 1767225600,
        status: 'completed',
        model: 'k7d2m9q4x1ab',
        output: [
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: 'Hello!', annotations: [] }],
          },
        ],
        usage: { input_tokens: 10, output_tokens: 2, total_tokens: 12 },
      },
    ],
  },
);

const numbered = { sequence_number: Type.Integer({ minimum: 0 }) };

/** OpenAI's events, each with its type as its name. */
export const ResponseStreamEvent = streamOf('ResponseStreamEvent', [
  namedEvent(
    'error',
    Type.Object({
      type: Type.Literal('error'),
      code: ErrorBody.properties.error.properties.code,
      message: Type.String(),
      param: Type.Null(),
      ...numbered,
    }),
  ),
  Type.Object({
    event: Type.String({ pattern: '^response\\.' }),
    data: jsonText(
      Type.Object({ type: Type.String({ pattern: '^response\\.' }), ...numbered }, { additionalProperties: true }),
    ),
  }),
]);

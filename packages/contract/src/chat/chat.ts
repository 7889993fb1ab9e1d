import { Type } from 'typebox';
import type { Static } from 'typebox';
import { ErrorBody } from '../errors.ts';
import { plainEvent, streamOf } from '../events/stream.ts';
import { nullable, oneOf, patterns } from '../text.ts';

/** An object that is passed on as it is: what it holds is OpenAI's. */
export const openAiObject = (title: string, description: string) =>
  Type.Object({}, { title, description, additionalProperties: true });

const chatFields = {
  messages: Type.Array(openAiObject('ChatMessage', "OpenAI's message of a conversation."), {
    minItems: 1,
    description: "OpenAI's messages. With `user` set, only the new message is needed.",
    examples: [[{ role: 'user', content: 'Hello' }]],
  }),
  stream: Type.Optional(nullable(Type.Boolean({ description: 'Answer as server-sent events.' }))),
  stream_options: Type.Optional(
    nullable(
      Type.Object(
        {
          include_usage: Type.Optional(
            nullable(Type.Boolean({ description: "OpenAI's: a last chunk has the usage." })),
          ),
          include_steps: Type.Optional(
            nullable(
              Type.Boolean({
                description: 'Further chunks, without choices, tell what tools the agent works with (`step`).',
              }),
            ),
          ),
        },
        { description: 'Options of an answer that streams.', additionalProperties: true },
      ),
    ),
  ),
  user: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 256,
        pattern: patterns.text,
        description: 'Names a conversation that the agent remembers. The header X-Conversation-Id does the same.',
      }),
    ),
  ),
};
const model = Type.String({ minLength: 1, maxLength: 200, pattern: patterns.text });

/** OpenAI's chat completion request to one agent. Unknown fields are passed to the agent unchanged. */
export const AgentChat = Type.Object(
  {
    ...chatFields,
    model: Type.Optional(
      nullable({
        ...model,
        description: '`<agent id>/<member>` for a member; any other name means the agent that the path names.',
      }),
    ),
  },
  {
    title: 'AgentChat',
    additionalProperties: true,
    examples: [
      { messages: [{ role: 'user', content: 'Hello' }] },
      { messages: [{ role: 'user', content: 'And in French?' }], user: 'ada', stream: true },
    ],
  },
);
export type AgentChat = Static<typeof AgentChat>;

/** OpenAI's chat completion request; `model` names the agent. */
export const ModelChat = Type.Object(
  {
    ...chatFields,
    model: Type.String({
      ...model,
      description: "The agent's id, or `<agent id>/<member>`.",
      examples: ['k7d2m9q4x1ab'],
    }),
  },
  {
    title: 'ModelChat',
    additionalProperties: true,
    examples: [{ model: 'k7d2m9q4x1ab', messages: [{ role: 'user', content: 'Hello' }] }],
  },
);

export const ConversationHeaders = Type.Object({
  'x-conversation-id': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: patterns.token,
      description: 'Names a conversation that the agent remembers; `user` in the body does the same and wins.',
    }),
  ),
});

/** OpenAI's chat completion, as the agent's runtime gives it; `model` is the agent's id. */
export const ChatCompletion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer(),
    model: Type.String({ description: "The agent's id, or `<agent id>/<member>`." }),
    choices: Type.Array(openAiObject('ChatChoice', "OpenAI's choice: the answer. There is one.")),
    usage: Type.Object(
      { prompt_tokens: Type.Integer(), completion_tokens: Type.Integer(), total_tokens: Type.Integer() },
      { additionalProperties: true, description: 'Model usage of the turn, all its model calls added up.' },
    ),
  },
  {
    title: 'ChatCompletion',
    additionalProperties: true,
    examples: [
      {
        id: 'chatcmpl_1',
        object: 'chat.completion',
        created: 1767225600,
        model: 'k7d2m9q4x1ab',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
      },
    ],
  },
);

const ToolStep = Type.Object(
  {
    id: Type.String({ description: 'Names the step within its turn; its end has the same.', examples: ['step_1'] }),
    tool: Type.String({ maxLength: 100, description: "The runtime's name of the tool.", examples: ['exec'] }),
    status: oneOf(['started', 'completed', 'failed']),
    title: Type.Optional(
      Type.String({
        maxLength: 160,
        description: 'The use of the tool, in a short line.',
        examples: ['run tests'],
      }),
    ),
  },
  {
    title: 'ToolStep',
    additionalProperties: false,
    description: 'A tool of the agent begins, or has ended. A turn may end without the end of a step.',
  },
);
export type ToolStep = Static<typeof ToolStep>;

const ChatCompletionChunk = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion.chunk'),
    created: Type.Integer(),
    model: Type.String({ description: "The agent's id, or `<agent id>/<member>`." }),
    choices: Type.Array(openAiObject('ChatChunkChoice', "OpenAI's choice of a chunk: what was said since the last.")),
    step: Type.Optional(ToolStep),
  },
  { title: 'ChatCompletionChunk', additionalProperties: true },
);

/** OpenAI's chunks, then `[DONE]`. */
export const ChatStreamEvent = streamOf('ChatStreamEvent', [
  plainEvent(ChatCompletionChunk),
  Type.Object({ data: Type.Literal('[DONE]') }),
  plainEvent(ErrorBody),
]);

const Model = Type.Object(
  {
    id: Type.String({ description: "The agent's id, or `<agent id>/<member>`.", examples: ['k7d2m9q4x1ab'] }),
    object: Type.Literal('model'),
    created: Type.Integer({ description: 'Seconds since 1970.' }),
    owned_by: Type.Literal('lodge'),
    name: Type.String({ description: "The agent's name, or the member's.", examples: ['Support bot'] }),
  },
  { title: 'Model', additionalProperties: false },
);

export const ModelList = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(Model) },
  { title: 'ModelList', additionalProperties: false },
);
export type ModelList = Static<typeof ModelList>;

import { streamed } from '../http/stream.ts';
import type { Call } from '../http/transport.ts';
import { agentPath } from '../http/url.ts';
import type { CallOptions, WithQuery } from '../options.ts';
import type {
  AgentChat,
  AgentResponse,
  AgentResponseRequest,
  ChatCompletion,
  ChatCompletionChunk,
  ModelChat,
  ModelList,
  ModelResponseRequest,
  ToolStep,
} from '../types.ts';
import { Resource, split } from './resource.ts';
import type { QueryOf } from './resource.ts';

/** A turn may take half an hour. A stream has comments in its silence, so it keeps the usual bound. */
const turnMs = 31 * 60_000;

export interface ChatOptions {
  /** Names a conversation that the agent remembers. */
  readonly conversation?: string | undefined;
}
type Options = WithQuery<QueryOf<'createAgentChatCompletion'>> & ChatOptions;

export interface AskOptions extends ChatOptions {
  /** Names a conversation, too; OpenAI's word for it. */
  readonly user?: string | undefined;
  /** The member of the agent that is asked. */
  readonly member?: string | undefined;
  /** Called when the agent begins to use one of its tools, and when that has ended. */
  readonly onStep?: ((step: ToolStep) => void) | undefined;
}

/** A turn of an agent: carried out once, so it is only repeated when it cannot have begun, or by a key of the caller. */
abstract class Turns extends Resource {
  protected turn<T>(path: string, body: unknown, options: Options = {}): Promise<T> {
    const { call, options: given } = turnCall(path, body, options);
    return this.http.json({ ...call, slowMs: turnMs }, given);
  }
}

export class Chat extends Turns {
  /** One turn of the agent, with its whole answer. */
  create(agentId: string, body: AgentChat, options?: Options): Promise<ChatCompletion> {
    return this.turn(agentPath(agentId, 'chat', 'completions'), body, options);
  }

  /**
   * The answer as it is written. Stopping early ends the turn. With `stream_options: { include_steps: true }` further chunks,
   * without choices, have a `step` of the agent's tools.
   */
  stream(agentId: string, body: AgentChat, options?: Options): AsyncGenerator<ChatCompletionChunk, void> {
    return this.#chunks(agentPath(agentId, 'chat', 'completions'), body, options);
  }

  /** Asks one question. Resolves to the text of the answer. */
  async ask(
    agentId: string,
    text: string,
    { user, member, onStep, ...options }: AskOptions & WithQuery<QueryOf<'createAgentChatCompletion'>> = {},
  ): Promise<string> {
    const model = member === undefined ? undefined : `${agentId}/${member}`;
    const stream_options = onStep && { include_steps: true };
    const body: AgentChat = { messages: [{ role: 'user', content: text }], user, model, stream_options };
    let answer = '';
    for await (const { choices, step } of this.stream(agentId, body, options)) {
      answer += choices[0]?.delta.content ?? '';
      if (step) onStep?.(step);
    }
    return answer;
  }

  /** As `create`; `model` names the agent. */
  completions(body: ModelChat, options?: Options): Promise<ChatCompletion> {
    return this.turn('/chat/completions', body, options);
  }

  streamCompletions(body: ModelChat, options?: Options): AsyncGenerator<ChatCompletionChunk, void> {
    return this.#chunks('/chat/completions', body, options);
  }

  async *#chunks(path: string, body: object, options: Options = {}): AsyncGenerator<ChatCompletionChunk, void> {
    const { call, options: given } = turnCall(path, { ...body, stream: true }, options);
    for await (const { value } of streamed(this.http, call, given, ({ data }) => data === '[DONE]')) {
      if (value !== null) yield value as ChatCompletionChunk;
    }
  }
}

/** An event of a response as it is made: OpenAI's, by its type. */
export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [name: string]: unknown;
}

const ends: ReadonlySet<string> = new Set(['response.completed', 'response.failed', 'response.incomplete']);

export class Responses extends Turns {
  create(agentId: string, body: AgentResponseRequest, options?: Options): Promise<AgentResponse> {
    return this.turn(agentPath(agentId, 'responses'), body, options);
  }

  stream(agentId: string, body: AgentResponseRequest, options?: Options): AsyncGenerator<ResponseEvent, void> {
    return this.#events(agentPath(agentId, 'responses'), body, options);
  }

  /** As `create`; `model` names the agent. */
  createFor(body: ModelResponseRequest, options?: Options): Promise<AgentResponse> {
    return this.turn('/responses', body, options);
  }

  streamFor(body: ModelResponseRequest, options?: Options): AsyncGenerator<ResponseEvent, void> {
    return this.#events('/responses', body, options);
  }

  async *#events(path: string, body: object, options: Options = {}): AsyncGenerator<ResponseEvent, void> {
    const { call, options: given } = turnCall(path, { ...body, stream: true }, options);
    for await (const { value } of streamed(this.http, call, given, ({ event }) => ends.has(event))) {
      yield value as ResponseEvent;
    }
  }
}

export class Models extends Resource {
  /** All agents and members that may be talked to, as models. */
  list(options?: CallOptions): Promise<ModelList> {
    return this.getJson('/models', options);
  }

  /** The agent and its members. */
  agent(agentId: string, options?: CallOptions): Promise<ModelList> {
    return this.getJson(agentPath(agentId, 'models'), options);
  }
}

function turnCall(path: string, body: unknown, { conversation, ...options }: Options) {
  const { call: given, rest } = split(options);
  const call: Call = { method: 'POST', path, body, query: rest, headers: { 'x-conversation-id': conversation } };
  return { call, options: given };
}

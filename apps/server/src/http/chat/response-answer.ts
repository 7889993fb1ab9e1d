import { connectionError, gatewayError } from './gateway.ts';
import type { GatewayReply } from './gateway.ts';
import { asObject, failureOf, parseJson, readAnswer } from './answer.ts';
import type { AnswerEnd, Json } from './answer.ts';
import { eventBlocks, readBlock } from './event-stream.ts';

/** What the client is told of its response in place of what the gateway calls it. */
export interface ResponseNames {
  readonly id: string;
  readonly model: string;
  readonly previous_response_id: string | null;
  /** The client's own, given back. */
  readonly metadata: unknown;
}

/** What OpenAI's clients expect of every response, where the gateway does not say it. */
const usual = {
  error: null,
  incomplete_details: null,
  instructions: null,
  parallel_tool_calls: true,
  temperature: null,
  tool_choice: 'auto',
  tools: [],
  top_p: null,
};

/** The answer of a turn that does not stream, as JSON text. */
export async function wholeResponse(reply: GatewayReply, names: ResponseNames): Promise<string> {
  const answer = await readAnswer(reply);
  const error = asObject(answer['error']);
  if (error) throw gatewayError(failureOf(error));
  return JSON.stringify(named(answer, names));
}

/** Events after which nothing follows. */
const ends = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/**
 * The answer of a turn that streams, event by event as it comes. A failure ends it with OpenAI's event `error`; `failed` is
 * told of it first. Before the last event comes `flush`: a turn that has ended is on the agent's disk. Never throws.
 */
export async function* responseBlocks(
  reply: Promise<GatewayReply>,
  names: ResponseNames,
  { failed, flush }: AnswerEnd,
): AsyncGenerator<string> {
  let sequence = 0;
  const block = (event: Json): string => {
    const numbered = { ...event, sequence_number: sequence };
    sequence += 1;
    return `event: ${String(event['type'])}\ndata: ${JSON.stringify(numbered)}\n\n`;
  };
  try {
    const { body } = await reply;
    for await (const text of eventBlocks(body)) {
      const { data } = readBlock(text);
      const event = data === null ? null : asObject(parseJson(data));
      if (event === null) continue;
      const type = String(event['type']);
      const error = type === 'error' ? event : asObject(asObject(event['response'])?.['error']);
      if (error) throw gatewayError(failureOf(error));
      if (ends.has(type)) await flush();
      yield block(renamed(event, names));
      if (ends.has(type)) return;
    }
    throw new Error('the stream ended without its last event');
  } catch (error) {
    const { code, message } = failed(connectionError(error));
    yield block({ type: 'error', code, message, param: null });
  }
}

function renamed(event: Json, names: ResponseNames): Json {
  const response = asObject(event['response']);
  return {
    ...event,
    ...('response_id' in event && { response_id: names.id }),
    ...(response && { response: named(response, names) }),
    ...withAnnotations(event),
  };
}

const named = (response: Json, names: ResponseNames): Json => ({
  ...usual,
  ...response,
  ...(Array.isArray(response['output']) && { output: response['output'].map(item) }),
  ...names,
});

function withAnnotations(event: Json): Json {
  const content = asObject(event['part']);
  const output = asObject(event['item']);
  return { ...(content && { part: part(content) }), ...(output && { item: item(output) }) };
}

function item(given: unknown): unknown {
  const output = asObject(given);
  return output && Array.isArray(output['content']) ? { ...output, content: output['content'].map(part) } : given;
}

/** A text has annotations, though there be none. */
function part(given: unknown): unknown {
  const content = asObject(given);
  return content?.['type'] === 'output_text' ? { annotations: [], ...content } : given;
}

import { asObject } from '@lodge/domain';
import type { Refusal, Json } from '@lodge/domain';
import type { GatewayEvent } from '@lodge/ports';

/** The client's names in a response, which replace the gateway's. */
export interface ResponseNames {
  readonly id: string;
  readonly model: string;
  readonly previous_response_id: string | null;
  /** The client's own, given back. */
  readonly metadata: unknown;
}

/** Fields that OpenAI's clients expect of every response, where the gateway does not set them. */
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
export const printResponse = (answer: Json, names: ResponseNames): string => JSON.stringify(named(answer, names));

/**
 * The answer of a turn that streams, event by event as it comes. A failure ends it with OpenAI's event `error`, which
 * `failed` receives first. Never throws.
 */
export async function* printResponseEvents(
  events: AsyncIterable<GatewayEvent>,
  names: ResponseNames,
  failed: (error: unknown) => Refusal,
): AsyncGenerator<string> {
  let sequence = 0;
  const block = (event: Json): string => {
    const numbered = { ...event, sequence_number: sequence };
    sequence += 1;
    return `event: ${String(event['type'])}\ndata: ${JSON.stringify(numbered)}\n\n`;
  };
  try {
    for await (const { data } of events) if (data !== null) yield block(renamed(data, names));
  } catch (error) {
    const { code, message } = failed(error);
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

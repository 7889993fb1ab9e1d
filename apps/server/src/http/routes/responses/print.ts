import { asObject } from '@lodge/domain';
import type { Refusal, Json } from '@lodge/domain';
import type { TurnEvent, TurnWait } from '@lodge/engine';
import { waitComment } from '../chat/print.ts';
import { ApprovalItems, approvalRequest } from './approvals.ts';

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

/** The answer of a turn that does not stream, as JSON text, with the calls that nobody has decided about. */
export function printResponse(answer: Json, names: ResponseNames, undecided: readonly TurnWait[]): string {
  const approvals = new ApprovalItems();
  for (const wait of undecided) approvals.add(approvalRequest(wait));
  return JSON.stringify(named(answer, names, approvals));
}

/**
 * The answer of a turn that streams, event by event as it comes. A failure ends it with OpenAI's event `error`, which
 * `failed` receives first. Never throws.
 */
export async function* printResponseEvents(
  events: AsyncIterable<TurnEvent>,
  names: ResponseNames,
  failed: (error: unknown) => Refusal,
): AsyncGenerator<string> {
  const approvals = new ApprovalItems();
  let sequence = 0;
  const block = (event: Json): string => {
    const numbered = { ...event, sequence_number: sequence };
    sequence += 1;
    return `event: ${String(event['type'])}\ndata: ${JSON.stringify(numbered)}\n\n`;
  };
  try {
    const untold: TurnWait[] = [];
    for await (const { data, wait } of events) {
      if (wait) {
        yield waitComment(wait);
        untold.push(wait);
      }
      if (data !== null) yield block(renamed(data, names, approvals));
      // Clients expect the event `response.created` first.
      if (sequence === 0) continue;
      for (const item of untold.splice(0).map(approvalRequest)) {
        const output_index = approvals.add(item);
        yield block({ type: 'response.output_item.added', output_index, item });
        yield block({ type: 'response.output_item.done', output_index, item });
      }
    }
  } catch (error) {
    const { code, message } = failed(error);
    yield block({ type: 'error', code, message, param: null });
  }
}

function renamed(event: Json, names: ResponseNames, approvals: ApprovalItems): Json {
  const { output_index: index } = event;
  const response = asObject(event['response']);
  return {
    ...event,
    ...('response_id' in event && { response_id: names.id }),
    ...(Number.isSafeInteger(index) && { output_index: approvals.placeOf(index as number) }),
    ...(response && { response: named(response, names, approvals) }),
    ...withAnnotations(event),
  };
}

const named = (response: Json, names: ResponseNames, approvals: ApprovalItems): Json => ({
  ...usual,
  ...response,
  ...(Array.isArray(response['output']) && { output: approvals.within(response['output'].map(item)) }),
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

import { errorBody } from '@lodge/contract';
import type { Refusal, Json } from '@lodge/domain';
import type { TurnEvent, TurnWait } from '@lodge/engine';
import type { GatewayEvent, ToolStep } from '@lodge/ports';

/** The answer of a turn that does not stream, as JSON text. */
export const printCompletion = (answer: Json, model: string): string => JSON.stringify({ ...answer, model });

/**
 * The answer of a turn that streams, block by block as it comes, `model` replaced by the name that the client knows. Ends
 * with `[DONE]`, or with an error in OpenAI's shape, which `failed` receives first. Never throws.
 */
export async function* printChunks(
  events: AsyncIterable<TurnEvent>,
  model: string,
  failed: (error: unknown) => Refusal,
): AsyncGenerator<string> {
  let last: Json | null = null;
  try {
    for await (const event of events) {
      if (event.wait) yield waitComment(event.wait);
      else if (event.step) yield stepChunk(event.step, last, model);
      else yield printed(event, model);
      last = event.data ?? last;
    }
  } catch (error) {
    const { code, message } = failed(error);
    yield `data: ${JSON.stringify(errorBody(code, message))}\n\n`;
  }
}

/** A comment, because OpenAI's clients take an event of any name for a chunk. */
export const waitComment = ({ id }: Pick<TurnWait, 'id'>): string => `: waiting for a confirmation ${id}\n\n`;

function printed({ block, data, otherLines, isLast }: GatewayEvent, model: string): string {
  if (isLast) return 'data: [DONE]\n\n';
  if (typeof data?.['model'] !== 'string') return `${block}\n\n`;
  return `${[...otherLines, `data: ${JSON.stringify({ ...data, model })}`].join('\n')}\n\n`;
}

/** Longest id of a completion that a step repeats: a guest wrote it. */
const maxIdChars = 200;

/** A chunk without choices is a form that OpenAI's clients know: the chunk with the usage has it. */
function stepChunk(step: ToolStep, last: Json | null, model: string): string {
  const { id, created } = last ?? {};
  const chunk = {
    id: typeof id === 'string' && id.length <= maxIdChars ? id : 'chatcmpl',
    object: 'chat.completion.chunk',
    created: Number.isSafeInteger(created) ? created : Math.floor(Date.now() / 1_000),
    model,
    choices: [],
    step,
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

import { errorBody } from '@lodge/contract';
import type { Refusal, Json } from '@lodge/domain';
import type { GatewayEvent } from '@lodge/ports';

/** The answer of a turn that does not stream, as JSON text. */
export const printCompletion = (answer: Json, model: string): string => JSON.stringify({ ...answer, model });

/**
 * The answer of a turn that streams, block by block as it comes, `model` replaced by the name that the client knows. Ends
 * with `[DONE]`, or with an error in OpenAI's shape, which `failed` receives first. Never throws.
 */
export async function* printChunks(
  events: AsyncIterable<GatewayEvent>,
  model: string,
  failed: (error: unknown) => Refusal,
): AsyncGenerator<string> {
  try {
    for await (const event of events) yield printed(event, model);
  } catch (error) {
    const { code, message } = failed(error);
    yield `data: ${JSON.stringify(errorBody(code, message))}\n\n`;
  }
}

function printed({ block, data, otherLines, isLast }: GatewayEvent, model: string): string {
  if (isLast) return 'data: [DONE]\n\n';
  if (typeof data?.['model'] !== 'string') return `${block}\n\n`;
  return `${[...otherLines, `data: ${JSON.stringify({ ...data, model })}`].join('\n')}\n\n`;
}

/**
 * OpenAI's input in the one form that every runtime reads. Clients may omit obvious fields, and return a response's items
 * with fields that only an answer has.
 */
type Item = Readonly<Record<string, unknown>>;

export function inputItems(input: string | readonly Item[]): string | readonly Item[] {
  return typeof input === 'string' ? input : input.flatMap(item);
}

function item(given: Item): readonly Item[] {
  switch (given['type'] ?? 'message') {
    case 'message':
      return [message(given)];
    case 'function_call_output':
      return [{ type: 'function_call_output', call_id: given['call_id'], output: textOf(given['output']) }];
    case 'reasoning':
    case 'mcp_approval_request':
      // The reasoning belongs to another turn: only the model that wrote it could read it.
      return [];
    default:
      return [given];
  }
}

function message({ role, content, id, status, phase }: Item): Item {
  return {
    type: 'message',
    role,
    content: Array.isArray(content) ? content.map(part) : content,
    ...(typeof id === 'string' && { id }),
    ...(typeof status === 'string' && { status }),
    ...(typeof phase === 'string' && { phase }),
  };
}

function part(given: unknown): unknown {
  const { type, text } = (given ?? {}) as Item;
  return type === 'output_text' || type === 'input_text' ? { type, text } : given;
}

/** A tool's result may consist of parts, too. */
function textOf(output: unknown): unknown {
  if (!Array.isArray(output)) return output;
  const texts = output.map((given: unknown) => ((given ?? {}) as Item)['text']);
  return texts.filter((text) => typeof text === 'string').join('\n');
}

/** Hints to OpenAI's own service that change nothing of an answer: a runtime need not know them. */
const droppedNames: readonly string[] = [
  'include',
  'parallel_tool_calls',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'stream_options',
  'user',
  'previous_response_id',
];

/** The request's other fields, without those that mean nothing to a runtime, or are null. */
export function otherFields(body: Item): Item {
  const { tools, ...rest } = body;
  const others = Object.entries(withoutNulls(rest)).filter(([name]) => !droppedNames.includes(name));
  return { ...Object.fromEntries(others), ...(Array.isArray(tools) && { tools: tools.map(withoutNulls) }) };
}

const withoutNulls = (given: Item): Item =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));

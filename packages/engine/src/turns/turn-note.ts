/** Begins a turn with a line of Lodge's, which the agent reads before what is said to it. */
import type { Json } from '@lodge/domain';

type Item = Readonly<Record<string, unknown>>;

/** Returns the request of either API with the line before its last message of the user's. */
export function withNote(body: Json, note: string): Json {
  const line = `[Lodge: ${note}]`;
  if (Array.isArray(body['messages'])) return { ...body, messages: inLast(body['messages'], line, 'text') };
  const input = body['input'];
  if (typeof input === 'string') return { ...body, input: `${line}\n\n${input}` };
  return Array.isArray(input) ? { ...body, input: inLast(input, line, 'input_text') } : body;
}

function inLast(items: readonly unknown[], line: string, partType: 'text' | 'input_text'): unknown[] {
  const at = items.findLastIndex((item) => isItem(item) && item['role'] === 'user');
  // Nobody says anything, as with the result of a tool.
  if (at === -1) return [...items, { role: 'user', content: line }];
  return items.with(at, before(items[at] as Item, line, partType));
}

function before(item: Item, line: string, type: string): Item {
  const { content } = item;
  if (Array.isArray(content)) return { ...item, content: [{ type, text: line }, ...(content as unknown[])] };
  return { ...item, content: typeof content === 'string' ? `${line}\n\n${content}` : line };
}

const isItem = (item: unknown): item is Item => typeof item === 'object' && item !== null;

import type { Reply, Usage } from './types.ts';

/** Pieces a text is streamed in: as scripted, or a few words each. */
export function piecesOf(reply: Reply): readonly string[] {
  if (reply.chunks) return reply.chunks;
  return (reply.text ?? '').match(/(?:\S+\s*){1,4}|\s+/g) ?? [];
}

export function textOf(reply: Reply): string {
  return reply.chunks ? reply.chunks.join('') : (reply.text ?? '');
}

/** Scripted usage, or one token for four characters. */
export function usageOf(body: unknown, reply: Reply): Usage {
  if (reply.usage) return reply.usage;
  const tokens = (value: unknown): number => Math.max(1, Math.ceil((JSON.stringify(value) ?? '').length / 4));
  return { input: tokens(body), output: tokens([textOf(reply), reply.thinking, reply.toolCalls]) };
}

/** The text of a message's content: a string, or the text parts of a list. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .filter((part: any) => (part?.type ?? 'text') !== 'tool_result' && typeof part?.text === 'string')
    .map((part: any) => part.text)
    .join('\n');
}

/**
 * Texts that OpenClaw puts around and beside a user's words: its own context, the time before them, its runtime line after.
 */
const addedByOpenclaw = [
  /<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>.*?<<<END_OPENCLAW_INTERNAL_CONTEXT>>>/gs,
  /^\[\w{3} \d{4}-\d\d-\d\d \d\d:\d\d [^\]]+\] /,
  /^\[Chat messages since your last reply.*?\n\[Current message - respond to this\]\nUser: /s,
  /\n\nRuntime: agent=.*$/s,
];

/** The last thing a user said in a conversation; empty when nobody said anything. */
export function lastUserText(messages: readonly any[]): string {
  for (const message of messages.toReversed()) {
    if (message?.role !== 'user') continue;
    const text = addedByOpenclaw
      .reduce((rest, added) => rest.replace(added, ''), contentText(message.content ?? message.parts))
      .trim();
    if (text !== '') return text;
  }
  return '';
}

/** Halves a text, so that arguments come in more than one piece as they do in life. */
export function halves(text: string): [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

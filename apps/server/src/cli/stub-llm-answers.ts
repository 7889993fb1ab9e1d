import type { Reply, StubRequest } from '@lodge/testkit/llm';

/**
 * The answers of the stub for `demo` and `stub-llm`. After "run: <command>" it asks the agent to run that command in its
 * shell, and then repeats the command's output; it repeats any other text.
 */
export function stubAnswer(request: StubRequest): Reply {
  const output = toolOutput(request.body);
  if (output !== null) return { text: `The command printed: ${output.trim()}` };
  const command = /\brun:\s*(.+)$/m.exec(request.lastUserText)?.[1];
  if (command === undefined) {
    const words = `I stand in for a model, and repeat what I am told: ${request.lastUserText.trim()}`;
    return { chunks: words.split(/(?<= )/), intervalMs: 20 };
  }
  const shell = shells.find((name) => request.tools.includes(name));
  if (shell === undefined) return { text: `I was offered no tool named ${shells.join(' or ')} to run that with.` };
  return { toolCalls: [{ name: shell, arguments: { command } }] };
}

/** OpenClaw's and Hermes' names for it. */
const shells = ['exec', 'terminal'];

interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
}

/** Text of the tool's result at the end of the conversation, in either provider's form; null when it ends otherwise. */
function toolOutput(body: unknown): string | null {
  const messages = (body as { messages?: readonly Message[] } | undefined)?.messages;
  const last = messages?.findLast((message) => !isOpenclawContext(message));
  if (last?.role === 'tool') return textOf(last.content);
  const parts = Array.isArray(last?.content) ? (last.content as { type?: unknown; content?: unknown }[]) : [];
  const result = parts.find((part) => part.type === 'tool_result');
  return result ? textOf(result.content) : null;
}

/** OpenClaw ends its requests with its own user message, after a tool's result too. */
function isOpenclawContext({ role, content }: Message): boolean {
  return role === 'user' && textOf(content).startsWith('<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>');
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('');
}
